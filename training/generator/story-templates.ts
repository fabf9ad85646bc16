import { templates } from "./template.ts";

// Slots: hero He he him his, friend Fhe fhe fhim fhis, home, place, place2 (landscapes), room, prize (the thing that is
// sought, with "the"), aPrize, tool, aTool, animal, aAnimal, job, aJob, food, drink, colour, adjective, feeling, feeling2,
// weather, season, month, town, number, material, abstract, event.

export const OPENINGS = templates(`
Once upon a time, [in a small house in {town}|near the {place} of {town}|on the edge of {town}], there lived {aJob} called {hero}.
There was once {aJob} named {hero}, who lived [alone|with {his} {sibling}|with {aAnimal}] in {town}.
{hero} was {aJob} in {town}. Every [morning|evening] {he} [walked|went] to the {place} [with {his} {animal}|to think about {abstract}|before work].
[Long ago|Many years ago|One {season}], {aJob} called {hero} [moved|came|travelled] to {town}.
It was {weather} in {town}, and {hero} [felt|was] {feeling}.
On a {weatherDay} day in {month}, {hero} [left|walked out of] the {room} and looked at the sky.
{hero} and {friend} had been friends [since they were children|for many years|ever since the {event} in {town}].
In the {adjective} {room} near the {place}, {hero} kept {aPrize}.
Nobody in {town} knew why {hero} the {job} was so {feeling}.
This is the story of {hero}, {aJob} from {town} who [loved|liked|could not live without] {food}.
When {hero} was [young|a child|ten years old], {he} [found|lost|was given] {aPrize}.
`);

export const WISHES = templates(`
More than anything, {hero} wanted to find {prize}.
One day {friend} told {him} about {prize}, and {hero} could think of nothing else.
"{Prize} is gone!" [cried|said|whispered] {friend}. "[Will you help me|Can you help me] find it?"
{hero} needed {prize} for the {event}, but it was nowhere to be seen.
An old {job} had told {him} that {prize} was hidden [near the {place}|in a {room}|somewhere in {town}].
A letter came for {hero}. It said: "Bring {prize} to the {place} before {day}."
{He} had promised {friend} to bring {prize} home before the [snow|rain|winter|feast] came.
But there was a problem: {prize} was [broken|missing|lost|stolen], and without it there could be no {event}.
{hero} [dreamed|had a dream] that {prize} was waiting for {him} by the {place}.
"If you find {prize}," said {friend}, "I will give you [all my {food}|{number} coins|{aTool}]."
`);

export const JOURNEYS = templates(`
So {hero} packed some {food} and {aTool}, and set off [for the {place}|along the road|before sunrise].
{He} walked [all day|for {number} miles|for hours|through the night] until {he} came to [a|the] {place2}.
The road went past the {place} and over [a|the] {adjective} hill.
First {he} looked in the {room}, but there was [only {aTool}|nothing but dust|nobody there].
Then {he} asked {aJob}, who [shook|nodded] {genericHis} head and pointed to the {place2}.
On the way {he} met {aAnimal} that was {feeling2}.
{hero} [sat down|stopped|rested] under a tree, ate some {food} and drank {drink}.
The {place} was [quiet|dark|full of {animals}|covered with leaves|empty].
It began to [rain|snow|get dark], and {hero} had to [wait in|hide in|find] a {room}.
{friend} came along too, because {fhe} knew the way to the {place2}.
"[Which way|How far is it] to the {place2}?" asked {hero}. "[Over|Past|Behind] the {place}," answered {aJob}.
In the distance {he} could see the lights of {town}.
The {animal} ran ahead, and {hero} followed it [down to|across|around] the {place2}.
{He} counted {number} steps and turned [left|right].
By noon {he} was [tired|hungry|lost|{feeling}], but {he} did not give up.
A {colour} {animal} [watched|followed] them from the {place}.
They crossed the {place} in a small {colour} boat.
The wind smelled of {food} and {drink}.
{hero} sang a song about {abstract} to keep {himself} awake.
At the {place2} there was a sign that said: "{Abstract} is worth more than gold."
"[Do not|Never] go to the {place2} at night," [said|warned] {aJob}. But {hero} was not afraid.
`);

export const TROUBLES = templates(`
Suddenly {aAnimal} [jumped out|appeared|stood in the way]. "[Stop|Wait]!" it said. "[Who are you|What do you want]?"
But the door of the {room} was [locked|shut|stuck], and the key was [gone|broken|lost].
Then {hero} fell into [a hole|the water|a ditch] and lost {his} {tool}.
[A storm|A flood|Thick fog] came over the {place}, and {he} could not see {his} own hands.
{friend} was {feeling2}. "[We will never find it|Let us go home|I am so tired]," {fhe} said.
The bridge over the {place2} had [fallen down|been washed away|broken].
Somebody had [been there|come] before them: {prize} was gone, and only {aTool} was left.
"You may have {prize}," said the {job}, "if you can [answer my question|guess my name|bring me some {food}]."
{hero} [looked|searched] everywhere, but {he} found only {aTool} and some old {food}.
A {adjective} {animal} had taken {prize} and would not give it back.
At that moment {hero} heard a [noise|voice|cry] from the {room}.
"[Go away|Leave this place]!" [shouted|called] {aJob}. "There is nothing for you here."
`);

export const HELPS = templates(`
Luckily {friend} had {aTool}. With it they [opened|mended|reached] the [door|gate|wall].
"Let me help you," said the {animal}. "I know every stone of the {place}."
{hero} gave the {animal} some {food}, and it became {his} friend.
Then {he} remembered what {his} {sibling} had said: "[{Abstract} first|Look twice|Never hurry|Ask, and listen]."
{hero} [thought|waited] for a while, and then {he} had an idea.
They [tied|put] the {tool} to a rope and pulled together: one, two, three!
{friend} laughed. "It was [in front of us|under the {tool}|behind the {room}] all the time!"
With great care {hero} lifted the {tool}, and there was {prize}.
A {job} who was passing by [lent|gave] them {aTool}.
"Because you were [kind|honest|brave|patient]," said the {job}, "you shall have it."
Step by step, {hero} climbed up and took {prize} in both hands.
`);

export const ENDINGS = templates(`
And so {hero} brought {prize} back to {town}, and everyone was {feelingGood}.
That evening they ate {food} and drank {drink} in the {room}, and {friend} told the whole story again.
From that day on, {hero} and {friend} were the best of friends.
{hero} put {prize} [on a shelf|in the {room}|over the door], where everybody could see it.
"[Thank you|Well done]," said {friend}. "I will never forget this."
{He} had learned that {abstract} is [stronger|better|worth more] than {abstract2}.
Since then, every year in {month}, the people of {town} remember {hero} the {job}.
And if {he} has not moved away, {hero} still lives in {town} today.
When {he} came home, {his} {sibling} was waiting with {drink}, and {hero} was {feelingGood}.
They all lived happily for many years.
In the end {hero} gave {prize} to {friend}, for {fhe} needed it more.
`);

export const LINKS = templates(`
The next [morning|day], [it was {weather}|the sun came out|{hero} woke early].
[Some|A few|{number}] days later, {hero} was [back at the {place}|on the road again|{feeling}].
[Meanwhile|At the same time], in {town}, {friend} was {feeling2}.
[After a while|An hour later|Soon after that], {he} [went on|got up|moved on].
[In the afternoon|In the evening|At night] it was {weather}.
On {day} {hero} [wrote a letter to|met|visited] {friend}.
`);

export const CALM = templates(`
The {colour} {tool} stood in the corner of the {room}.
There was {aTool} on the table, and next to it some {food}.
Outside, {aAnimal} [slept|sat|walked about] near the {place}.
{hero} liked the smell of {food} in the {room}.
{friend} [wore|had] a {colour} coat and {aTool} made of {material}.
It was {weather}, as it often is in {month}.
The people of {town} [talked about|were proud of|laughed about] the {event}.
A {job} [worked|sang|read a book] in the {room}.
{hero} [poured|made] some {drink} and [sat down|looked out of the window].
"What is [{abstract}|{abstract2}]?" asked {friend}. {hero} [smiled|thought about it for a long time|did not know].
The {animals} near the {place} were [quiet|restless|fast asleep].
On the wall hung a picture of the {place2} at {town}.
Nobody spoke. The only sound was the [wind|rain|clock|fire].
{friend} bought some {food} from the {job} at the {place}.
The {material} {tool} was old, but it still worked.
In {season}, the {place} is [at its best|full of {animals}|cold and empty].
{hero} [counted|looked at] the {animals}: there were {number} of them.
`);
