import type { Fact } from "./facts.ts";
import { article, capital, code, digits, fullName, inventedWord, person, plural, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import * as words from "./vocabulary.ts";

type Maker = (random: Random) => Fact;
type Words = (random: Random) => string;

const ATTRIBUTES =
  `access code,address,age,answer,area,author,boss,brand,budget,captain,capital,chapter,city,class,
colour,contact,content,cost,country,date,deadline,depth,destination,director,distance,doctor,driver,duration,editor,
email,file name,flavour,floor,folder,gate,goal,guard,height,host,id,identifier,ingredient,inventor,key,king,language,
leader,length,level,limit,location,main dish,manager,mayor,model,motto,name,nickname,number,operator,origin,owner,
page,passcode,password,path,pilot,PIN,platform,port,position,price,prize,product,queen,rank,reason,region,result,route,
rule,score,secret,sender,shape,size,speed,start,state,status,street,style,subject,supplier,symbol,taste,teacher,
temperature,theme,time,title,token,topic,type,user name,value,version,weight,width,winner,word,year`
    .split(",")
    .map((word) => word.trim());
const SUBJECT_NOUNS =
  `account,agent,album,app,army,bank,battery,book,boss,building,bus,camera,channel,city,client,
club,company,computer,course,database,device,door,driver,email,factory,film,flight,game,group,guest,hotel,house,
island,key,king,laptop,line,list,lock,machine,magazine,member,message,meeting,mission,model,network,order,package,
parcel,party,patient,person,phone,plan,planet,plant,player,printer,product,program,project,queen,report,river,road,
robot,room,router,school,sensor,server,service,shelf,ship,shop,site,song,station,street,student,system,table,tank,task,
team,ticket,tower,town,train,tree,user,vault,vehicle,village,visitor,website,window,zone`
    .split(",")
    .map((word) => word.trim());

/** What an attribute may belong to: "the server", "project Falcon", "room 7", "Mia Fox". */
const subjectOf: Words = (random) => {
  const noun = random.pick(random.chance(0.7) ? SUBJECT_NOUNS : words.OBJECTS);
  switch (random.int(0, 8)) {
    case 0:
      return `the ${random.pick(words.ADJECTIVES)} ${noun}`;
    case 1:
      return `${noun} ${digits(random, 1, 3)}`;
    case 2:
      return `${noun} ${capital(random.pick(words.PLAIN_WORDS))}`;
    case 3:
      return random.chance(0.5) ? person(random).name : fullName(random);
    case 4:
      return random.chance(0.5) ? random.pick(words.TOWNS) : capital(inventedWord(random));
    case 5:
      return `the ${noun} in ${random.pick(words.TOWNS)}`;
    default:
      return `the ${noun}`;
  }
};

const letter = (random: Random): string => random.pick([..."abcdefghijklmnopqrstuvwxyz"]);
const mixed: Words = (random) => {
  let text = "";
  for (let i = random.int(3, 8); i > 0; i--) {
    const next = random.chance(0.4) ? String(random.int(0, 9)) : letter(random);
    text += random.chance(0.5) ? next.toUpperCase() : next;
  }
  return text;
};
const date: Words = (random) =>
  random.pick([
    `${random.int(1, 28)} ${random.pick(words.MONTHS)} ${random.int(1700, 2060)}`,
    `${random.pick(words.MONTHS)} ${random.int(1, 28)}`,
    `${random.int(1900, 2060)}-${String(random.int(1, 12)).padStart(2, "0")}-${String(random.int(1, 28)).padStart(2, "0")}`,
  ]);
const measure: Words = (random) => {
  const number = random.chance(0.3)
    ? `${digits(random, 1, 2)}.${digits(random, 1, 2)}`
    : digits(random, 1, 4);
  return `${number} ${random.pick(["metres", "km", "kg", "degrees", "litres", "hours", "miles", "points", "euros", "per cent"])}`;
};
const place = (random: Random): string =>
  random.chance(0.3) ? capital(inventedWord(random)) : random.pick(words.TOWNS);

/** Values of every make, most of them such as nobody could guess. */
const anyValue: Words = (random) =>
  random.weighted<Words>([
    [code, 3],
    [(inner) => inner.pick(words.PLAIN_WORDS), 3],
    [inventedWord, 2],
    [(inner) => capital(inventedWord(inner)), 2],
    [(inner) => digits(inner, 1, 6), 3],
    [(inner) => `${inner.pick(words.PLAIN_WORDS)}-${digits(inner, 1, 4)}`, 1.5],
    [(inner) => `${inner.pick(words.PLAIN_WORDS)}${digits(inner, 1, 4)}`, 1],
    [(inner) => inner.sample(words.PLAIN_WORDS, 2).join("-"), 1],
    [(inner) => inner.sample(words.PLAIN_WORDS, inner.int(2, 4)).join(" "), 1.5],
    [(inner) => capital(inner.pick(words.PLAIN_WORDS)), 1],
    [mixed, 1.5],
    [date, 1.5],
    [measure, 1.5],
    [fullName, 1.5],
    [(inner) => person(inner).name, 1],
    [place, 1.5],
    [
      (inner) =>
        `${inner.pick(words.PLAIN_WORDS)}@${inventedWord(inner)}.${inner.pick(["org", "com", "net"])}`,
      0.7,
    ],
    [
      (inner) => `/${inner.sample(words.PLAIN_WORDS, 2).join("/")}.${inner.pick(["txt", "json", "png"])}`,
      0.5,
    ],
    [(inner) => Array.from({ length: 4 }, () => inner.int(0, 255)).join("."), 0.5],
    [(inner) => `${digits(inner, 3, 3)}-${digits(inner, 3, 4)}`, 0.7],
    [(inner) => `"${inner.sample(words.PLAIN_WORDS, inner.int(1, 4)).join(" ")}"`, 0.7],
    [thing, 0.7],
  ])(random);

const anyAttribute: Maker = (random) => {
  const attribute = random.weighted<Words>([
    [(inner) => inner.pick(ATTRIBUTES), 8],
    [(inner) => inner.pick(words.PLAIN_WORDS), 1],
    [(inner) => `${inner.pick(words.ADJECTIVES)} ${inner.pick(ATTRIBUTES)}`, 1],
    [inventedWord, 0.5],
  ])(random);
  const subject = subjectOf(random);
  const link = random.pick(["of", "of", "for"]);
  return {
    key: `any ${attribute} ${subject}`,
    value: anyValue(random),
    statements: [
      `The ${attribute} ${link} ${subject} is @.`,
      `The ${attribute} ${link} ${subject} is @.`,
      `${capital(subject)}'s ${attribute} is @.`,
      `For ${subject}, the ${attribute} is @.`,
      `The ${attribute} ${link} ${subject}: @.`,
      `We set the ${attribute} ${link} ${subject} to @.`,
      `@ is the ${attribute} ${link} ${subject}.`,
    ],
    questions: [
      `What is the ${attribute} ${link} ${subject}?`,
      `What is ${subject}'s ${attribute}?`,
      `Tell me the ${attribute} ${link} ${subject}.`,
      `Do you know the ${attribute} ${link} ${subject}?`,
    ],
    reply: `The ${attribute} ${link} ${subject} is @.`,
  };
};

const DEEDS: readonly (readonly [past: string, base: string])[] = [
  ["borrowed", "borrow"],
  ["bought", "buy"],
  ["broke", "break"],
  ["brought", "bring"],
  ["built", "build"],
  ["carried", "carry"],
  ["chose", "choose"],
  ["drew", "draw"],
  ["dropped", "drop"],
  ["found", "find"],
  ["got", "get"],
  ["hid", "hide"],
  ["invented", "invent"],
  ["lost", "lose"],
  ["made", "make"],
  ["ordered", "order"],
  ["packed", "pack"],
  ["painted", "paint"],
  ["repaired", "repair"],
  ["saw", "see"],
  ["sold", "sell"],
  ["stole", "steal"],
  ["threw away", "throw away"],
  ["won", "win"],
];

const deed: Maker = (random) => {
  const who = random.chance(0.3) ? fullName(random) : person(random).name;
  const [past, base] = random.pick(DEEDS);
  const where = random.pick(["", ` in ${random.pick(words.TOWNS)}`, ` on ${random.pick(words.DAYS)}`]);
  if (random.chance(0.6)) {
    return {
      key: `${who} ${past}`,
      value: random.chance(0.2) ? plural(random.pick(words.OBJECTS)) : article(thing(random)),
      statements: [
        `${who} ${past} @${where}.`,
        where === "" ? `${who} ${past} @.` : `${capital(where.trim())}, ${who} ${past} @.`,
      ],
      questions: [`What did ${who} ${base}${where}?`],
      reply: `${who} ${past} @${where}.`,
    };
  }
  const what = thing(random);
  return {
    key: `${past} ${what}`,
    value: who,
    statements: [`@ ${past} the ${what}.`, `The ${what}: @ ${past} it.`],
    questions: [`Who ${past} the ${what}?`],
    reply: `@ ${past} the ${what}.`,
  };
};

const LANGUAGES =
  "Arabic Chinese Danish Dutch English Finnish French German Greek Hindi Italian Latin Polish Russian Spanish Turkish".split(
    " ",
  );
/** Sentence patterns: how it is told and recalled, how it is asked; # is the person. */
const LIVES: readonly (readonly [reply: string, question: string, value: Words, topic: string])[] = [
  ["# is @ years old.", "How old is #?", (random) => digits(random, 1, 2), "age"],
  ["# comes from @.", "Where does # come from?", place, "from"],
  ["# lives in @.", "Where does # live?", place, "lives"],
  ["# works in @.", "Where does # work?", place, "works"],
  ["# works as @.", "What does # work as?", (random) => article(random.pick(words.JOBS)), "job"],
  ["# was born in @.", "When was # born?", (random) => String(random.int(1800, 2020)), "born"],
  ["# speaks @.", "Which language does # speak?", (random) => random.pick(LANGUAGES), "speaks"],
  ["# plays the @.", "What does # play?", (random) => random.pick(words.INSTRUMENTS), "plays"],
  ["# likes @.", "What does # like?", (random) => random.pick([...words.FOODS, ...words.SPORTS]), "likes"],
  ["# is afraid of @.", "What is # afraid of?", (random) => plural(random.pick(words.ANIMALS)), "afraid"],
  ["# studies @.", "What does # study?", (random) => random.pick(words.SUBJECTS), "studies"],
  ["# is married to @.", "Who is # married to?", (random) => person(random).name, "married"],
  ["# drives to @.", "Where does # drive to?", place, "drives"],
  ["# met @.", "Who did # meet?", fullName, "met"],
  ["# feels @.", "How does # feel?", (random) => random.pick(words.FEELINGS), "feels"],
  [
    "# wants to become @.",
    "What does # want to become?",
    (random) => article(random.pick(words.JOBS)),
    "become",
  ],
];

const life: Maker = (random) => {
  const who = random.pick([
    person(random).name,
    person(random).name,
    fullName(random),
    `the ${random.pick(words.JOBS)}`,
  ]);
  const [reply, question, value, topic] = random.pick(LIVES);
  const sentence = reply.replace("#", capital(who));
  return {
    key: `${topic} ${who}`,
    value: value(random),
    statements: [sentence, sentence, `I know that ${reply.replace("#", who)}`],
    questions: [question.replace("#", who)],
    reply: sentence,
  };
};

const SIZES: readonly (readonly [reply: string, question: string, units: readonly string[]])[] = [
  ["# is @ long.", "How long is #?", ["kilometres", "metres", "miles", "days"]],
  ["# is @ high.", "How high is #?", ["metres", "feet"]],
  ["# is @ old.", "How old is #?", ["years", "days", "months"]],
  ["# weighs @.", "How much does # weigh?", ["kilograms", "grams", "tons"]],
  ["# was built in @.", "When was # built?", []],
  ["# opens at @.", "When does # open?", []],
  ["# costs @.", "How much does # cost?", ["euros", "dollars", "coins", "pounds"]],
];

const size: Maker = (random) => {
  const subject = `the ${random.pick([...SUBJECT_NOUNS, ...words.ROOMS, ...words.LANDSCAPES])} ${random.pick([
    `in ${random.pick(words.TOWNS)}`,
    `of ${random.pick(words.TOWNS)}`,
    `of ${person(random).name}`,
  ])}`;
  const [reply, question, units] = random.pick(SIZES);
  let value = `${digits(random, 1, 4)} ${units.length > 0 ? random.pick(units) : ""}`.trim();
  if (reply.includes("built")) value = String(random.int(1200, 2030));
  if (reply.includes("opens"))
    value = `${random.int(5, 12)}:${String(random.int(0, 11) * 5).padStart(2, "0")}`;
  const sentence = capital(reply.replace("#", subject));
  return {
    key: `${question} ${subject}`,
    value,
    statements: [sentence],
    questions: [question.replace("#", subject)],
    reply: sentence,
  };
};

/** Facts of open form: attributes, subjects and values that need not suit one another, deeds, lives and sizes. */
export const openFact: Maker = (random) =>
  random.weighted<Maker>([
    [anyAttribute, 6],
    [deed, 2],
    [life, 3],
    [size, 1],
  ])(random);
