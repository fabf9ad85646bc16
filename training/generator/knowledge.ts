import type { Random } from "./random.ts";
import { DAYS, MONTHS } from "./vocabulary.ts";

const pairs = (text: string): (readonly [string, string])[] =>
  text
    .trim()
    .split(/\s*,\s*/)
    .map((entry) => {
      const [left, right] = entry.split("=");
      return [left!.trim(), right!.trim()] as const;
    });

const OPPOSITES = pairs(`hot=cold, big=small, tall=short, fast=slow, light=dark, old=new, hard=soft, wet=dry,
happy=sad, up=down, left=right, open=closed, full=empty, early=late, thick=thin, loud=quiet, heavy=light,
strong=weak, rich=poor, clean=dirty, near=far, high=low, wide=narrow, sharp=blunt, good=bad, true=false, first=last,
inside=outside, day=night, summer=winter, north=south, east=west, push=pull, buy=sell, give=take, win=lose,
begin=end, remember=forget, love=hate, laugh=cry, sweet=sour, rough=smooth, deep=shallow, brave=afraid`);
const SOUNDS =
  pairs(`dog=barks, cat=meows, cow=moos, sheep=bleats, horse=neighs, pig=grunts, duck=quacks, lion=roars,
wolf=howls, frog=croaks, owl=hoots, bee=buzzes, snake=hisses, mouse=squeaks, crow=caws, donkey=brays, rooster=crows`);
const YOUNG = pairs(`dog=puppy, cat=kitten, cow=calf, horse=foal, sheep=lamb, pig=piglet, goat=kid, hen=chick,
duck=duckling, bear=cub, deer=fawn, goose=gosling, swan=cygnet, frog=tadpole, owl=owlet, kangaroo=joey`);
const COLOUR_OF =
  pairs(`the sky=blue, grass=green, snow=white, coal=black, a lemon=yellow, blood=red, an orange=orange,
milk=white, a carrot=orange, a banana=yellow, the night=black, a ripe tomato=red, an elephant=grey, a leaf=green`);
const USES =
  pairs(`a knife=cut, a pen=write, a broom=sweep, a spade=dig, a needle=sew, an oven=bake, a saw=cut wood,
a key=open a lock, a lamp=give light, a clock=tell the time, a map=find the way, a cup=drink, a spoon=eat soup,
a bed=sleep, a ladder=climb, a hammer=drive nails, an umbrella=stay dry, a telescope=look at the stars`);
const HOMES =
  pairs(`a bird=a nest, a bee=a hive, a dog=a kennel, a horse=a stable, a king=a palace, a spider=a web,
a pig=a sty, a fox=a den, a rabbit=a burrow, a monk=a monastery, a fish=the water, a lion=the savanna`);
const MAKERS = pairs(`bread=a baker, shoes=a shoemaker, pots=a potter, chairs=a carpenter, clothes=a tailor,
horseshoes=a smith, books=a writer, paintings=a painter, bridges=an engineer, honey=a beekeeper, flour=a miller`);
const NUMBERS = pairs(`a week has=7 days, a year has=12 months, a day has=24 hours, an hour has=60 minutes,
a minute has=60 seconds, a spider has=8 legs, an insect has=6 legs, a cat has=4 legs, a hand has=5 fingers,
a triangle has=3 sides, a square has=4 sides, a dozen is=12, a decade has=10 years, a century has=100 years,
a bird has=2 wings, the alphabet has=26 letters`);

/** A question about the small world that the model knows, with its answer as a sentence. */
export const knowledge = (random: Random): { question: string; answer: string } => {
  switch (random.int(0, 8)) {
    case 0: {
      const [a, b] = random.pick(OPPOSITES);
      return { question: `What is the opposite of ${a}?`, answer: `The opposite of ${a} is ${b}.` };
    }
    case 1: {
      const [a, b] = random.pick(SOUNDS);
      return { question: `What sound does a ${a} make?`, answer: `A ${a} ${b}.` };
    }
    case 2: {
      const [a, b] = random.pick(YOUNG);
      return { question: `What is a young ${a} called?`, answer: `A young ${a} is called a ${b}.` };
    }
    case 3: {
      const [a, b] = random.pick(COLOUR_OF);
      return {
        question: `What colour is ${a}?`,
        answer: `${a.charAt(0).toUpperCase() + a.slice(1)} is ${b}.`,
      };
    }
    case 4: {
      const [a, b] = random.pick(USES);
      return { question: `What is ${a} for?`, answer: `You use ${a} to ${b}.` };
    }
    case 5: {
      const [a, b] = random.pick(HOMES);
      return {
        question: `Where does ${a} live?`,
        answer: `${a.charAt(0).toUpperCase() + a.slice(1)} lives in ${b}.`,
      };
    }
    case 6: {
      const [a, b] = random.pick(MAKERS);
      return { question: `Who makes ${a}?`, answer: `${b.charAt(0).toUpperCase() + b.slice(1)} makes ${a}.` };
    }
    case 7: {
      const [a, b] = random.pick(NUMBERS);
      const unit = b.split(" ")[1];
      const subject = a.replace(/ (has|is)$/, "");
      const question =
        unit === undefined ? `How many is ${subject}?` : `How many ${unit} does ${subject} have?`;
      return { question, answer: `${a.charAt(0).toUpperCase() + a.slice(1)} ${b}.` };
    }
    default: {
      const list = random.chance(0.5) ? DAYS : MONTHS;
      const at = random.int(0, list.length - 1);
      const forward = random.chance(0.5);
      const other = list[(at + (forward ? 1 : list.length - 1)) % list.length]!;
      const what = list === DAYS ? "day" : "month";
      const word = forward ? "after" : "before";
      return {
        question: `Which ${what} comes ${word} ${list[at]!}?`,
        answer: `The ${what} ${word} ${list[at]!} is ${other}.`,
      };
    }
  }
};
