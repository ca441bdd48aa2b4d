// uncalled.mjs - cuts methods of classes that nothing names out of a minified module: bundlers keep them.

const TOKEN = /\/\*[^]*?\*\/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[\w$]+|[^\s]/g;
/** What engines call by itself. */
const IMPLIED = ['constructor', 'then', 'next', 'toString', 'toJSON', 'valueOf'];

/** The words of texts: what is among them may be called. */
export function words(text) {
  return text.match(/[\w$]+/g) ?? [];
}

/** The text without them; again while there are more. `named`: the words of all that uses the module. */
export function withoutUncalled(text, named) {
  const tokens = [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({ word, at: index }));
  const count = new Map();
  for (const { word } of tokens) for (const one of words(word)) count.set(one, (count.get(one) ?? 0) + 1);
  const found = new Map();
  for (const { name, from, to } of methods(tokens)) found.set(name, [...(found.get(name) ?? []), { from, to }]);
  const cut = [...found].filter(([name, all]) => count.get(name) === all.length && !named.has(name) && !IMPLIED.includes(name))
    .flatMap(([, all]) => all).sort((a, b) => a.from - b.from);
  if (cut.length === 0) return text;
  let [rest, end] = ['', 0];
  for (const { from, to } of cut) {
    if (from < end) continue; // in one that is cut
    rest += text.slice(end, from);
    end = to;
  }
  return withoutUncalled(rest + text.slice(end), named);
}

/** The place behind what the bracket at a place closes. */
function past(tokens, from) {
  for (let at = from, depth = 0; at < tokens.length; at++) {
    if (/^[[({]$/.test(tokens[at].word)) depth++;
    else if (/^[\])}]$/.test(tokens[at].word) && --depth === 0) return at + 1;
  }
  throw new Error('a bracket is open');
}

/** The methods of every class: names, and where each begins and ends. */
function* methods(tokens) {
  for (const [at, { word }] of tokens.entries()) {
    if (word !== 'class') continue;
    const open = tokens.findIndex((one, place) => place > at && one.word === '{');
    const end = past(tokens, open) - 1;
    for (let here = open + 1; here < end; ) {
      const from = here;
      while (/^(static|async|get|set)$/.test(tokens[here].word) && tokens[here + 1].word !== '(') here++;
      const { word: name } = tokens[here];
      if (tokens[here + 1].word !== '(') throw new Error(`a class has more than methods: ${name}`);
      here = past(tokens, past(tokens, here + 1));
      yield { name, from: tokens[from].at, to: tokens[here].at };
    }
  }
}
