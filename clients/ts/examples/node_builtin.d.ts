// What the examples use of Node.

declare module "node:process" {
  const process: { readonly argv: readonly string[]; on(name: "SIGINT", act: () => void): void };
  export default process;
}
