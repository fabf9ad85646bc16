const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** The directives of C's strftime that chat templates write, in local time and English; others stay as they are. */
export function strftime(date: Date, format: string): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const parts: Readonly<Record<string, string>> = {
    Y: String(date.getFullYear()),
    y: two(date.getFullYear() % 100),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    B: months[date.getMonth()] ?? "",
    b: (months[date.getMonth()] ?? "").slice(0, 3),
    A: weekdays[date.getDay()] ?? "",
    a: (weekdays[date.getDay()] ?? "").slice(0, 3),
    H: two(date.getHours()),
    I: two(date.getHours() % 12 || 12),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    p: date.getHours() < 12 ? "AM" : "PM",
    "%": "%",
  };
  return format.replace(/%(.)/g, (all, letter: string) => parts[letter] ?? all);
}
