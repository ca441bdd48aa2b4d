// build.mjs FOLDER - builds the console from web/src into FOLDER: equal sources and packages give equal
// bytes on every machine. Names of what pages load hold a hash of their content.
import * as esbuild from 'esbuild';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const source = path.join(root, 'src');
const output = path.resolve(process.argv[2]);
const pages = { 'index.html': ['app.css', 'main.js', 'icon.svg'], 'operator.html': ['app.css', 'operator.js', 'icon.svg'] };

// What the licence of a package asks to be told beside it, where the package has no file for it.
const notices = {
  'node_modules/lightweight-charts':
    'TradingView Lightweight Charts(tm) Copyright (c) 2025 TradingView, Inc. https://www.tradingview.com/\n\n',
};

const built = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ['src/app.css', 'src/main.tsx', 'src/operator.tsx'],
  outdir: 'dist',
  bundle: true,
  preserveSymlinks: true, // names hash paths: node_modules may be a link
  minify: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  entryNames: '[name].[hash]',
  chunkNames: '[name].[hash]',
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
  }).join('\n----\n\n');
}
