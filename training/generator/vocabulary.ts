/** The words that the generator draws on. All ASCII, all lower case unless they are names. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const phrases = (text: string): readonly string[] => text.trim().split(/\s*,\s*/);

export const WOMEN =
  words(`Ada Alice Amara Anna Beatrice Bella Cara Celia Chloe Clara Daisy Diana Edith Elena Ella
Emma Esther Eva Faith Flora Freya Gina Grace Greta Hana Hazel Helen Holly Ida Ines Iris Isla Ivy Jane Jasmine Joan
Julia June Karin Kate Leila Lena Lily Linda Lucy Luna Mabel Maria Martha Maya Mia Mina Molly Nadia Nancy Nina Nora
Olive Olga Paula Pearl Petra Priya Rosa Rose Ruby Ruth Sadie Sara Selma Sofia Stella Tara Tessa Una Vera Violet
Wendy Willa Yara Zelda Zoe`);
export const MEN =
  words(`Aaron Adam Alan Albert Amir Anton Arthur Ben Boris Bruno Caleb Carl Cedric Chen Clive Colin
Daniel David Dennis Diego Edgar Edwin Eli Emil Eric Ethan Felix Finn Frank Fred Gabriel George Gus Harry Henry Hugo
Ian Igor Isaac Ivan Jack Jacob James Jamal Jonas Joseph Kai Karl Kevin Leo Leon Liam Louis Luca Marco Mark Martin
Max Milo Nathan Ned Noah Oliver Omar Oscar Otto Owen Paul Peter Philip Ravi Robert Robin Rufus Sam Samir Simon
Stefan Theo Thomas Tim Tom Victor Vincent Walter Will Yusuf Zack`);
export const SURNAMES =
  words(`Abbott Archer Baker Barlow Bell Bishop Brook Carter Clay Cooper Cross Dale Drake
Fisher Fletcher Ford Foster Fox Frost Gardner Glover Grant Green Hale Harper Hill Holt Hunt Kemp King Lane Marsh
Mason Miller Moss Nash North Page Parker Pike Pond Porter Quill Reed Rivers Rowe Shaw Shepherd Slater Stone Swift
Tanner Taylor Thorne Turner Vale Walker Ward Waters Webb West White Winter Wood Wright Young`);
export const TOWNS =
  words(`Alderton Ashford Barrowick Birchwood Blackwater Bramley Brightwell Caldbeck Clearbrook
Copperhill Coldharbour Cranmoor Dunmere Eastvale Elmstead Fairhaven Farrow Fernhill Foxley Glenmore Goldcrest
Greyport Harrowgate Hartfield Hazelton Highcliff Ironbridge Kingsmere Lakeside Larkspur Longmeadow Maplewood
Marlow Millbrook Mossgate Northwick Oakridge Oldbridge Pinewood Portwell Ravenna Redcliff Riverton Rosefield
Sandhaven Silverton Southmere Stonebury Summerset Thornbury Underhill Waterford Westbrook Whitstone Willowdale
Windmere Winterfold Wolfdale Woodside Yarrow`);
export const COLOURS =
  words(`amber black blue bronze brown crimson cream golden green grey indigo ivory lilac maroon
olive orange pink plum purple red scarlet silver tan teal turquoise violet white yellow`);
export const ADJECTIVES =
  words(`ancient big blunt bright broken calm cheap clean clever cold cracked curious dark
dusty empty faded fancy flat fragile gentle giant glass heavy hollow huge iron large leather light little long
lost magic narrow neat new noisy odd old painted plain polished precious pretty quiet rare ripe round rusty secret
sharp shiny short simple slim small smooth soft spare square stone strange strong sturdy tall thick thin tiny
warm wet wide wild wooden worn`);
export const OBJECTS =
  words(`anchor apron arrow axe badge bag ball banner barrel basin basket bead bell belt bench
blanket boat book boot bottle bowl box bracelet brick brooch broom brush bucket button cabinet cage candle canoe cap
card carpet cart chain chair chalk chest chisel clock cloak coat coin comb compass crate crown cup curtain cushion
desk dice dish doll drawer drill drum engine envelope fan feather fiddle file flag flask flute fork frame funnel
gate gear glove goblet guitar hammer handle harp hat helmet hook horn jacket jar jug kettle key kite knife ladder
lamp lantern lens letter lever lock magnet map mask medal mirror mug nail necklace needle net notebook oven paddle
pan parcel pearl pen pencil piano picture pillow pin pipe plate pocket pot purse puzzle quilt radio rake ribbon ring
robe rocket rope ruler saddle sail saw scarf scissors scroll seal shawl shell shield shirt shoe shovel sled sofa
spade spoon stamp statue stick stool stove string suitcase sword table tent thimble ticket timer tool torch towel
tray trumpet trunk umbrella vase violin wagon wallet watch wheel whistle window wrench`);
export const ANIMALS =
  words(`badger bat bear beaver bee bird boar bull camel cat cow crab crane crow deer dog dolphin
donkey dove duck eagle falcon finch fox frog goat goose hare hawk hedgehog hen heron horse lamb lion lizard lynx
mole monkey moose mouse mule newt otter owl ox panda parrot pig pigeon pony rabbit ram rat raven robin seal sheep
snail snake sparrow spider squirrel stork swan tiger toad turtle wolf wren yak zebra`);
export const FOODS =
  phrases(`apple pie, apples, bacon, bananas, beans, beetroot, berries, bread, butter, cabbage,
cake, carrots, cheese, cherries, chestnuts, chocolate, corn, crackers, cream, dates, dumplings, eggs, figs, fish,
fried rice, garlic, ginger, grapes, ham, hazelnuts, honey, jam, leek soup, lemons, lentils, mangoes, melon,
mushrooms, mustard, noodles, nuts, oat cakes, olives, onion soup, oranges, pancakes, pasta, peaches, pears, peas,
pepper, pickles, pizza, plums, porridge, potatoes, pudding, pumpkin, radishes, raisins, rice, salad, salmon,
sausages, soup, spinach, stew, strawberries, toast, tomatoes, turnips, waffles, walnuts, yoghurt`);
export const DRINKS =
  phrases(`black tea, cider, cocoa, coffee, cold water, ginger beer, grape juice, green tea,
hot chocolate, iced tea, lemonade, milk, mint tea, orange juice, plum juice, soda`);
export const ROOMS =
  words(`attic bakery balcony barn bathroom bedroom cabin cave cellar chapel classroom closet
corridor cottage courtyard dairy factory farmhouse garage garden greenhouse hall harbour hospital hut inn kitchen
laboratory library lighthouse mill museum nursery observatory office orchard palace pantry parlour porch post-office
prison quarry school shed shop stable station studio temple theatre tower tunnel vault warehouse well workshop`);
export const CONTAINERS =
  phrases(`blue box, brown sack, clay pot, empty barrel, fruit bowl, glass jar, green bag,
hat box, hollow log, iron chest, kitchen drawer, leather case, linen basket, locked safe, old boot, oak trunk,
paper bag, red tin, sewing box, silver tray, stone jar, tea pot, tool box, top drawer, velvet purse, white bucket,
wicker basket, wooden crate`);
export const LANDSCAPES =
  words(`beach bridge canyon castle cliff coast desert farm field forest fountain glade
harbour hill island lake market marsh meadow mine mountain park path plain pond port river road ruin shore spring
square stream street swamp valley village vineyard waterfall wood`);
export const JOBS =
  words(`actor architect artist astronomer baker barber beekeeper blacksmith builder butcher captain
carpenter chemist clerk cook dancer dentist doctor driver editor engineer farmer firefighter fisher florist forester
gardener glazier goldsmith guard guide hunter inventor jeweller judge juggler lawyer librarian locksmith mason
mechanic merchant miller miner musician nurse painter pilot plumber poet potter printer ranger sailor scientist
sculptor shepherd shoemaker singer smith soldier tailor teacher translator vet waiter weaver writer`);
export const MATERIALS =
  words(`amber brass bronze cedar clay copper cork cotton crystal felt glass gold granite iron
ivory jade leather linen maple marble oak paper pearl pine silk silver steel stone tin velvet wax wool`);
export const FEELINGS =
  words(`afraid amazed angry anxious ashamed bored brave calm careful cheerful confused curious
delighted eager excited glad grateful happy hopeful hungry jealous lonely lucky nervous patient pleased proud
relieved sad safe scared shy sleepy sorry surprised thankful thirsty tired upset worried`);
export const MONTHS = words(
  `January February March April May June July August September October November December`,
);
export const DAYS = words(`Monday Tuesday Wednesday Thursday Friday Saturday Sunday`);
export const SEASONS = words(`spring summer autumn winter`);
export const SPORTS =
  words(`archery badminton baseball boxing chess climbing cricket cycling dancing fencing fishing
football golf gymnastics hiking hockey juggling rowing rugby running sailing skating skiing surfing swimming tennis
volleyball walking wrestling yoga`);
export const INSTRUMENTS = words(`accordion banjo bassoon cello clarinet cornet drum fiddle flute guitar harp
mandolin oboe organ piano recorder saxophone trombone trumpet tuba viola violin`);
export const SUBJECTS =
  words(`algebra art astronomy biology botany chemistry drama drawing economics French geography
geology German grammar Greek history Latin law logic mathematics medicine music painting physics poetry Spanish`);
export const WEATHER =
  phrases(`bright and clear, cloudy and cool, cold and windy, cool and misty, damp and grey,
dry and warm, foggy, freezing, hot and still, mild, rainy, snowy, stormy, sunny, sunny and warm, very hot, wet`);
export const EVENTS =
  words(`auction banquet concert contest exam exhibition fair feast festival game hearing lecture
lesson match meeting parade party picnic play race reading rehearsal sale seminar show tour trial wedding`);
export const ABSTRACTS =
  words(`balance beauty change courage danger dream duty fame fortune freedom friendship glory
honour hope joy justice kindness knowledge luck memory mercy mystery order patience peace power pride promise reason
respect secret silence skill spirit strength success time trust truth victory wisdom wonder`);
export const VERBS =
  words(`ask bend bite blow borrow bring build burn carry catch chase clean climb close cook count
cover cross cut dance dig draw drink drive drop eat fall feed fill find fix float fly fold follow gather give grow
guard hang help hide hold hunt jump kick knit laugh learn leave lift listen look make march measure melt mend mix
move open pack paint paste pick plant play polish pour pull push read repair rest ride roll run sail save search
sell send shake share shout sing sit sleep slide solve speak spin stand steal stir stop sweep swim talk teach tell
throw tie touch trade travel turn visit wait walk wash watch wave wear weave whisper win work wrap write`);
export const SIBLINGS =
  words(`aunt brother cousin daughter father friend grandfather grandmother mother neighbour
nephew niece sister son teacher uncle`);
const ALL = [ADJECTIVES, OBJECTS, ANIMALS, ROOMS, LANDSCAPES, JOBS, MATERIALS, ABSTRACTS, VERBS, COLOURS];
/** Every single word that may stand as a key or a value on its own. */
export const PLAIN_WORDS: readonly string[] = [...new Set(ALL.flat())].filter((word) => !word.includes("-"));
