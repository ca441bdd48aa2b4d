// What node.ts uses of Node, so that nothing else needs its types.

declare module "node:fs/promises" {
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
  export function stat(path: string): Promise<{ readonly mode: number }>;
}
