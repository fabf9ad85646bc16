import {
  article,
  capital,
  digits,
  fullName,
  inventedWord,
  listing,
  person,
  plural,
  thing,
} from "./phrases.ts";
import type { Random } from "./random.ts";
import { type Slots, sentence, type Template, templates } from "./template.ts";
import * as words from "./vocabulary.ts";

const LETTER = templates(`
How are you? I hope that you are [well|not too tired|enjoying {town}].
It is {weather} here, and we spend our days [in the {room}|at the {place}|with {food} and a good book].
Yesterday {person} came to visit and brought {aThing}.
The {event} was [wonderful|long|a little boring], but [I liked|we all enjoyed] the {food}.
Do you still have {aThing}? I would like to [see|borrow|buy] it.
I have started to learn {subject}, and I practise the {instrument} every {day}.
{person} asks [about you|when you will come|for your new address] all the time.
Next {month} I will go to {town}. [Will you come too?|I am looking forward to it.|Please write to me there.]
My {sibling} has become {aJob} and works near the {place}.
Please remember to [feed the {animal}|close the {room}|send me the {object}].
`);
const DIARY = templates(`
[Got up|Woke up] at {clock}. It was {weather}.
Had {food} and {drink} for breakfast.
Worked in the {room} until {clock}. [Nothing special.|Very tiring.|Good work.]
Met {person} at the {place}. [She|He] was {feeling} about the {event}.
Bought {aThing} for {number} coins. [Too much!|A bargain.|I needed one.]
[Lost|Found|Mended] my {adjective} {object}.
Saw {number} {animals} on the way home.
In the evening I played the {instrument} and thought about {abstract}.
Went to bed at {clock}, [tired but happy|a little sad|very {feeling}].
`);
const RECIPE = templates(`
First wash the {ingredient} and cut [it|them] into small pieces.
Put the {ingredient} into a {adjective} bowl and add some {ingredient}.
Heat the oven and wait for {number} minutes.
Stir everything with a [wooden|clean|long] spoon until it is smooth.
Cook the {ingredient} slowly, and [never let it boil|turn it often|add a little water].
Then add the {ingredient} and mix well.
Leave it to cool for {number} minutes.
Serve it [hot|cold|warm] with {ingredient} and {drink}.
Taste it. If it is too [sour|plain|salty], add some {ingredient}.
`);
const REPORT = templates(`
{clock}: {aJob} [opened|closed|cleaned] the {room}.
{clock}: the {vehicle} from {town} [arrived|left|was late].
{clock}: {person} [called|came in|went out] [with {aThing}|and asked for {food}|about the {event}].
{clock}: temperature {number} degrees, {weather}.
{clock}: {number} {animals} were seen near the {place}.
{clock}: a {material} {object} was [found|sold|reported missing].
{clock}: all quiet.
{clock}: {number} visitors at the {event}.
`);
const NATURE = templates(`
The {animal} [lives|is at home] near the {place} and is most active in {season}.
It eats [leaves and roots|small fish|seeds and berries|insects|almost anything].
A grown {animal} weighs about {number} kilograms and is {number} centimetres long.
In {month} the {animal} [leaves its home|builds a nest|looks for a mate|sleeps for most of the day].
People in {town} say that the {animal} brings [luck|rain|bad news].
Its coat is {colour} with {colour} spots.
When it is {feeling}, the {animal} [hides|runs away|makes a strange noise].
The young are born in {season} and stay with their mother for {number} weeks.
The enemy of the {animal} is the {animal2}.
`);
const NEWS = templates(`
The {event} in {town} has been [opened|put off|moved] to {day}.
{person}, {aJob}, said: "[We are all {feeling}|It is a good day for {town}|I did not expect this]."
The price of {ingredient} [rose|fell] by {number} per cent.
A new {room} will be built near the {place} of {town}.
The team from {town} won the {sport} match by {number} points.
[The police|A {job}] found {aThing} in the {room}.
The weather on {day}: {weather}.
Visitors to {town} can now see {aThing} in the museum.
{person} won first prize in {sport} for the second time.
`);

const slotsOf = (random: Random): Slots => {
  const free = (list: readonly string[]) => (inner: Random) => inner.pick(list);
  const kept = (list: readonly string[]): (() => string) => {
    const value = random.pick(list);
    return () => value;
  };
  return {
    town: free(words.TOWNS),
    weather: free(words.WEATHER),
    room: free(words.ROOMS),
    place: free(words.LANDSCAPES),
    food: free(words.FOODS),
    ingredient: free(words.FOODS.filter((food) => food.endsWith("s") && !food.includes(" "))),
    drink: free(words.DRINKS),
    person: (inner) => (inner.chance(0.3) ? fullName(inner) : person(inner).name),
    aThing: (inner) => article(thing(inner)),
    event: free(words.EVENTS),
    subject: free(words.SUBJECTS),
    instrument: free(words.INSTRUMENTS),
    day: free(words.DAYS),
    month: free(words.MONTHS),
    season: free(words.SEASONS),
    sibling: free(words.SIBLINGS),
    job: free(words.JOBS),
    aJob: (inner) => article(inner.pick(words.JOBS)),
    animal: kept(words.ANIMALS),
    animal2: kept(words.ANIMALS),
    animals: (inner) => plural(inner.pick(words.ANIMALS)),
    object: free(words.OBJECTS),
    adjective: free(words.ADJECTIVES),
    material: free(words.MATERIALS),
    colour: free(words.COLOURS),
    feeling: free(words.FEELINGS),
    abstract: free(words.ABSTRACTS),
    sport: free(words.SPORTS),
    vehicle: free(["boat", "bus", "coach", "train"]),
    number: (inner) => digits(inner, 1, 2),
    clock: (inner) => `${inner.int(5, 22)}:${String(inner.int(0, 59)).padStart(2, "0")}`,
  };
};

/** A text that gives its sentences one at a time, each with the white space before it. */
export interface Sentences {
  next(): string;
}

/** Sentences of one kind of plain text, without end. */
export class ShortText implements Sentences {
  readonly #random: Random;
  readonly #slots: Slots;
  readonly #pool: readonly Template[];
  readonly #gap: string;
  #opening: string;
  #last: Template | undefined;

  constructor(random: Random) {
    this.#random = random;
    this.#slots = slotsOf(random);
    const name = person(random).name;
    const dish = random.pick(words.FOODS);
    const [opening, pool, gap] = random.pick([
      [`Dear ${name},\n\n`, LETTER, " "] as const,
      [
        `${random.pick(words.DAYS)}, ${random.int(1, 30)} ${random.pick(words.MONTHS)}\n`,
        DIARY,
        " ",
      ] as const,
      [`How to make ${dish}\n\n`, RECIPE, " "] as const,
      [`Report of ${random.pick(words.DAYS)}\n\n`, REPORT, "\n"] as const,
      [`About ${plural(this.#slots.animal!(random))}\n\n`, NATURE, " "] as const,
      [`News from ${random.pick(words.TOWNS)}\n\n`, NEWS, random.pick([" ", "\n"])] as const,
    ]);
    this.#opening = opening;
    this.#pool = pool;
    this.#gap = gap;
  }

  next(): string {
    let chosen = this.#random.pick(this.#pool);
    while (chosen === this.#last) chosen = this.#random.pick(this.#pool);
    this.#last = chosen;
    const before = this.#opening === "" ? (this.#random.chance(0.1) ? "\n\n" : this.#gap) : this.#opening;
    this.#opening = "";
    return before + capital(sentence(chosen, this.#slots, this.#random));
  }
}

/** Sentences without sense: words in any order, the same few sentences again, or rows of numbers. */
export class Filler implements Sentences {
  readonly #random: Random;
  readonly #make: (random: Random) => string;
  #started = false;

  constructor(random: Random) {
    this.#random = random;
    const few = Array.from({ length: random.int(2, 6) }, () => {
      const [a, b] = random.sample(words.PLAIN_WORDS, 2);
      return random.pick([
        `The ${a} is ${b}.`,
        `Here is the ${a} and there is the ${b}.`,
        `We ${a}, and they ${b}.`,
      ]);
    });
    this.#make = random.pick<(random: Random) => string>([
      (inner) => inner.pick(few),
      (inner) => `${capital(inner.sample(words.PLAIN_WORDS, inner.int(4, 12)).join(" "))}.`,
      (inner) => `${Array.from({ length: inner.int(3, 9) }, () => digits(inner, 1, 4)).join(" ")}.`,
      (inner) => `${capital(Array.from({ length: inner.int(4, 9) }, () => inventedWord(inner)).join(" "))}.`,
      (inner) =>
        `There was ${listing(Array.from({ length: inner.int(2, 5) }, () => article(thing(inner))))}.`,
    ]);
  }

  next(): string {
    const before = this.#started ? (this.#random.chance(0.08) ? "\n\n" : " ") : "";
    this.#started = true;
    return before + this.#make(this.#random);
  }
}
