// What the examples use of Node.

declare module "node:fs/promises" {
  export function access(path: string): Promise<void>;
  export function writeFile(path: string, text: string,
    how: { readonly mode: number; readonly flag: string }): Promise<void>;
}

declare module "node:process" {
  const process: { readonly argv: readonly string[]; on(name: "SIGINT", act: () => void): void };
  export default process;
}
