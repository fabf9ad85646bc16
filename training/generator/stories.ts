import { article, capital, person, plural, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import * as parts from "./story-templates.ts";
import { type Slots, sentence, type Template } from "./template.ts";
import * as words from "./vocabulary.ts";

const GOOD = "glad grateful happy proud relieved thankful delighted cheerful".split(" ");
const DAYTIMES =
  "bright cold cool damp dry foggy grey hot mild rainy snowy stormy sunny warm wet windy".split(" ");
const tool = (random: Random): string => random.pick(words.OBJECTS);

/** A cast and a world, kept through one story. */
const world = (random: Random): Slots => {
  const hero = person(random);
  let friend = person(random);
  while (friend.name === hero.name) friend = person(random);
  const prize = thing(random);
  const kept = (list: readonly string[]): (() => string) => {
    const value = random.pick(list);
    return () => value;
  };
  const free = (list: readonly string[]) => (inner: Random) => inner.pick(list);
  const town = kept(words.TOWNS);
  const animal = kept(words.ANIMALS);
  const job = kept(words.JOBS);
  const abstract = kept(words.ABSTRACTS);
  return {
    hero: () => hero.name,
    he: () => hero.he,
    He: () => capital(hero.he),
    him: () => hero.him,
    his: () => hero.his,
    himself: () => (hero.he === "he" ? "himself" : "herself"),
    friend: () => friend.name,
    fhe: () => friend.he,
    fhim: () => friend.him,
    fhis: () => friend.his,
    genericHis: free(["his", "her"]),
    town,
    animal,
    job,
    abstract,
    place: kept(words.LANDSCAPES),
    place2: free(words.LANDSCAPES),
    room: free(words.ROOMS),
    prize: () => `the ${prize}`,
    Prize: () => `The ${prize}`,
    aPrize: () => article(prize),
    tool,
    aTool: (inner) => article(inner.chance(0.4) ? thing(inner) : tool(inner)),
    aAnimal: () => article(animal()),
    animals: (inner) => plural(inner.pick(words.ANIMALS)),
    aJob: () => article(job()),
    food: free(words.FOODS),
    drink: free(words.DRINKS),
    colour: free(words.COLOURS),
    adjective: free(words.ADJECTIVES.filter((word) => !/^[aeiou]/.test(word))),
    feeling: free(words.FEELINGS),
    feeling2: free(words.FEELINGS),
    feelingGood: free(GOOD),
    weather: free(words.WEATHER),
    weatherDay: free(DAYTIMES),
    season: free(words.SEASONS),
    month: free(words.MONTHS),
    day: free(words.DAYS),
    number: (inner) => String(inner.int(2, 99)),
    material: free(words.MATERIALS),
    Abstract: (inner) => capital(inner.pick(words.ABSTRACTS)),
    abstract2: free(words.ABSTRACTS),
    event: kept(words.EVENTS),
    sibling: kept(words.SIBLINGS),
  };
};

/** Sentences of a story without end, one at a time, with a blank line where a paragraph begins. */
export class Story {
  readonly #random: Random;
  #slots: Slots;
  #plan: (readonly Template[])[] = [];
  #last: Template | undefined;
  #started = false;

  constructor(random: Random) {
    this.#random = random;
    this.#slots = world(random);
    this.#plan = this.#act(true);
  }

  #act(first: boolean): (readonly Template[])[] {
    const random = this.#random;
    const plan: (readonly Template[])[] = [first ? parts.OPENINGS : parts.LINKS];
    const some = (pool: readonly Template[], low: number, high: number): void => {
      for (let i = random.int(low, high); i > 0; i--) plan.push(random.chance(0.3) ? parts.CALM : pool);
    };
    some(parts.CALM, 0, 2);
    some(parts.WISHES, 1, 1);
    some(parts.JOURNEYS, 2, 5);
    some(parts.TROUBLES, 1, 2);
    some(parts.HELPS, 1, 2);
    return plan;
  }

  #sentence(pool: readonly Template[]): string {
    let chosen = this.#random.pick(pool);
    while (chosen === this.#last) chosen = this.#random.pick(pool);
    this.#last = chosen;
    return sentence(chosen, this.#slots, this.#random);
  }

  /** The name of the hero. */
  get hero(): string {
    return this.#slots.hero!(this.#random);
  }

  /** What is sought, with its article: "a red kettle". */
  get prize(): string {
    return this.#slots.aPrize!(this.#random);
  }

  /** The hero's work, with its article. */
  get job(): string {
    return this.#slots.aJob!(this.#random);
  }

  /** The next sentence with the white space before it. */
  next(): string {
    const pool = this.#plan.shift();
    if (pool !== undefined) {
      const gap = !this.#started ? "" : this.#random.chance(0.2) ? "\n\n" : " ";
      this.#started = true;
      return gap + this.#sentence(pool);
    }
    // Another act with the same people; now and then a new cast.
    if (this.#random.chance(0.25)) {
      const end = ` ${this.#sentence(parts.ENDINGS)}`;
      this.#slots = world(this.#random);
      this.#plan = this.#act(true);
      return `${end}\n\n${this.#sentence(this.#plan.shift()!)}`;
    }
    this.#plan = this.#act(false);
    return `\n\n${this.#sentence(this.#plan.shift()!)}`;
  }

  /** One or two sentences that close the story. */
  end(): string {
    const first = ` ${this.#sentence(parts.ENDINGS)}`;
    return this.#random.chance(0.5) ? `${first} ${this.#sentence(parts.ENDINGS)}` : first;
  }
}
