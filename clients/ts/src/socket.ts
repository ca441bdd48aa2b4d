// A WebSocket as a queue of messages. It is the browser's, Node's, or a class of the same shape.

import { Lost } from "./errors.js";

/** What is used of a WebSocket class: browsers and Node 22 have one, the package `ws` another. */
export type SocketClass = new (address: string, subprotocol?: string) => SocketLike;

export interface SocketLike {
  binaryType?: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
}

const INBOX_MAX = 65_536; // messages; who reads slower than that loses the connection

/** One connection. `receive` waits for one message at a time. */
export class Socket {
  readonly #inbox: (string | Uint8Array)[] = [];
  #ended: Lost | undefined;
  #wake: (() => void) | undefined;

  private constructor(private readonly socket: SocketLike) {
    socket.binaryType = "arraybuffer";
    socket.onmessage = ((event: { data: string | ArrayBuffer }) => {
      if (this.#inbox.length === INBOX_MAX) {
        this.#end(new Lost("too many messages", true));
        socket.close(4000);
        return;
      }
      this.#inbox.push(typeof event.data === "string" ? event.data : new Uint8Array(event.data));
      this.#wake?.();
    }) as SocketLike["onmessage"];
    socket.onerror = () => this.#end(new Lost("the connection broke", true));
    socket.onclose = ((event: { code: number; reason: string }) => {
      this.#end(new Lost(`closed with ${event.code} ${event.reason}`, true));
    }) as SocketLike["onclose"];
  }

  /** An open connection, whose server agrees to the subprotocol if there is one; Lost when there is none
   * within so many ms. */
  static async open(kind: SocketClass, address: string, timeoutMs: number, subprotocol?: string)
    : Promise<Socket> {
    const socket = new Socket(subprotocol === undefined ? new kind(address)
      : new kind(address, subprotocol));
    let isOpen = false;
    socket.socket.onopen = () => {
      isOpen = true;
      socket.#wake?.();
    };
    try {
      await socket.#until(() => isOpen, timeoutMs, "no connection");
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket;
  }

  #end(error: Lost): void {
    this.#ended ??= error;
    this.#wake?.();
  }

  async #until(look: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const timer = setTimeout(() => this.#end(new Lost(`${what} in ${timeoutMs} ms`, true)),
      timeoutMs);
    try {
      while (!look()) {
        if (this.#ended !== undefined) throw this.#ended;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next message. undefined when none came in time; Lost when the connection has ended. */
  async receive(timeoutMs: number): Promise<string | Uint8Array | undefined> {
    if (this.#inbox.length === 0) {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        this.#wake?.();
      }, Math.max(0, timeoutMs));
      try {
        while (this.#inbox.length === 0 && !isLate) {
          if (this.#ended !== undefined) throw this.#ended;
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      } finally {
        clearTimeout(timer);
      }
    }
    return this.#inbox.shift();
  }

  /** Lost when the connection has ended. */
  send(text: string): void {
    if (this.#ended !== undefined) throw this.#ended;
    this.socket.send(text);
  }

  close(code = 1000): void {
    this.#end(new Lost("closed here", true));
    this.socket.onclose = null;
    this.socket.close(code);
  }
}
