// build.mjs FOLDER - builds the console from web/src into FOLDER: equal sources and packages give equal
// bytes on every machine. Names of what pages load hold a hash of their content.
import * as esbuild from 'esbuild';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutUncalled, words } from './uncalled.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const source = path.join(root, 'src');
const output = path.resolve(process.argv[2]);
const pages = { 'index.html': ['app.css', 'main.js', 'icon.svg'], 'operator.html': ['app.css', 'operator.js', 'icon.svg'] };

// Members of fancy-canvas, which it and lightweight-charts alone call; two it defines by their texts. Of the page's own what is yes or
// no, and names that nothing outside has: no browser, no record of the interface.
const SHORT = /^_[a-zA-Z]{5}|^(un)?subscribe(Suggested)?BitmapSizeChanged$|^applySuggestedBitmapSize$|^use(Bitmap|Media)CoordinateSpace$|^is[A-Z]|^shown(Price|Size)$|^(staleSince|roundTrip|unfollowed|armProblem|changed|askAt|lastAt|retryAt|prevSeq|lagMs|refresh|waitsRefused|unsubscribe)$|^on(Epoch|Return|Word|RefusedLogin|Health|Help|Pick|Own|Older|Hover|Taken)$/;
const WHOLE = /^_(horizontal|vertical)PixelRatio$|^is(Address|Array|Finite|Integer|NaN|SafeInteger|SecureContext)$/;
// A module that is loaded later gives what it exports by its name.
for (const name of readdirSync(source))
  for (const [, taken] of readFileSync(path.join(source, name), 'utf8').matchAll(/\{([^{}]*)\} = await import\(/g))
    for (const word of words(taken)) if (SHORT.test(word) && !WHOLE.test(word)) throw new Error(`${name}: ${word} would have another name`);

// What is bundled otherwise than it stands, and what a library is said to be without.
const LOGO = /this\.\w+=document\.createElement\("style"\),.*?this\.Kv\.appendChild\(this\.jv\)/;
const compact = {
  name: 'compact',
  setup(build) {
    // The logo's code is dead, for the page names the library itself, and would be the only one that writes innerHTML.
    build.onLoad({ filter: /lightweight-charts\.production\.mjs$/ }, ({ path: at }) => {
      const text = readFileSync(at, 'utf8');
      if (text.match(LOGO) === null) throw new Error('lightweight-charts has another logo');
      const own = readdirSync(source).map((name) => readFileSync(path.join(source, name), 'utf8'));
      return { contents: withoutUncalled(text.replace(LOGO, '0'), new Set(own.flatMap(words))) };
    });
    // The tables of requests take half as much as lines of text.
    build.onLoad({ filter: /wire\.gen\.ts$/ }, async ({ path: at }) => {
      const { code } = await esbuild.transform(readFileSync(at, 'utf8'), { loader: 'ts' });
      const { REQUESTS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
      const end = code.indexOf('export const REQUESTS');
      return { contents: `${code.slice(0, end)}${unpacked}export const REQUESTS = unpacked(${JSON.stringify(packed(REQUESTS))});`, loader: 'js' };
    });
  },
};

// A request a line: its members, then its fields, whose offsets are the sums of the sizes before them.
function packed(requests) {
  const lines = Object.values(requests).map(({ fields, ...members }) => {
    let end = 0;
    const texts = fields.map(({ name, kind, offset, size, names = [] }) => {
      if (offset !== end) throw new Error(`${members.name}: ${name} is not behind what is before it`);
      end += size ?? 0;
      return [name, kind, size ?? '', ...names].join(':');
    });
    return [...Object.values(members).map((one) => one ?? ''), ...texts].join(' ');
  });
  const text = lines.join('\n');
  const again = Function(`${unpacked}return unpacked(${JSON.stringify(text)});`)();
  if (JSON.stringify(again) !== JSON.stringify(requests)) throw new Error('the tables of requests do not come back');
  return text;
}

const unpacked = `function unpacked(text) {
  return Object.fromEntries(text.split('\\n').map((line) => {
    const [code, name, signer, path, answer, built, bytes, ...fields] = line.split(' ');
    let end = 0;
    return [name, { code: +code, name, signer, path: path || null, answer, built: built === 'true', body_bytes: bytes ? +bytes : null, fields: fields.map((one) => {
      const [name, kind, size, ...names] = one.split(':');
      const offset = end;
      end += +size;
      return { name, kind, offset, size: size ? +size : null, ...(names.length ? { names } : {}) };
    }) }];
  }));
}
`;

// What the licence of a package asks to be told beside it, where the package has no file for it.
const notices = {
  'node_modules/lightweight-charts':
    'TradingView Lightweight Charts(tm) Copyright (c) 2025 TradingView, Inc. https://www.tradingview.com/\n\n(Changed here: without the code of its logo, and methods that are not called.)\n\n',
};

const built = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ['src/app.css', 'src/main.tsx', 'src/operator.tsx'],
  outdir: 'dist',
  bundle: true,
  preserveSymlinks: true, // names hash paths: node_modules may be a link
  minify: true,
  mangleProps: SHORT,
  reserveProps: WHOLE,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  entryNames: '[name].[hash]',
  chunkNames: '[name].[hash]',
  plugins: [compact],
  write: false,
  logLevel: 'warning',
});

const files = new Map();
for (const { path: at, contents } of built.outputFiles) files.set(path.basename(at), Buffer.from(contents));
const icon = readFileSync(path.join(source, 'icon.svg'));
files.set(`icon.${createHash('sha256').update(icon).digest('hex').slice(0, 10)}.svg`, icon);
files.set('licences.txt', Buffer.from(licences()));

for (const [page, wanted] of Object.entries(pages)) {
  let text = readFileSync(path.join(source, page), 'utf8');
  for (const name of wanted) {
    const [stem, extension] = name.split('.');
    const found = [...files.keys()].find((file) => file.startsWith(`${stem}.`) && file.endsWith(`.${extension}`));
    text = text.replace(`%${name}%`, `/console/${found}`);
  }
  files.set(page, Buffer.from(text));
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const [name, contents] of files) writeFileSync(path.join(output, name), contents);

// The licences of what is in the bundle, which they ask to be told with it; and of what they need. A package
// without a file of its own says who made it.
function licences() {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const names = Object.keys(packages).filter((name) => name !== '' && packages[name].dev !== true);
  return names.sort().map((name) => {
    const folder = path.join(root, name);
    const { version, license, author } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = path.join(folder, 'LICENSE');
    const text = existsSync(file) ? readFileSync(file, 'utf8') : `${author.name ?? author}\n`;
    return `${name.replace('node_modules/', '')} ${version} (${license})\n\n${notices[name] ?? ''}${text}`;
  }).join('\n----\n\n').replace(/[ \t]+/g, ' ');
}
