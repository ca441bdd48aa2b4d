// The shape of what the examples use of the package `ws`.

declare module "ws" {
  import type { SocketClass } from "perpd";
  export const WebSocket: SocketClass;
}
