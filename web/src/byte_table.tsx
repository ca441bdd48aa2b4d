/* The bytes that a request signs, by field, and the same as commands of perp and of curl. */
import { base64 } from './bytes';
import { Copy } from './copy';
import { type Payload, byteTable } from './payload';

function curl({ request, bytes }: Payload, origin: string): string {
  return `curl -X POST ${origin}${request.path} -H 'Content-Type: application/json' \\\n  -d '{"payload":"${base64(bytes)}","public_key":"...","signature":"..."}'`;
}

function Command({ text, name }: { text: string; name: string }) {
  return <div class="same"><pre tabIndex={0}>{text}</pre><Copy text={() => text}>{`copy for ${name}`}</Copy></div>;
}

/** `command`: of perp, which makes an id of its own. */
export function ByteTable({ payload, command, origin = location.origin }: { payload: Payload; command?: string; origin?: string }) {
  return (
    <details class="bytes signed">
      <summary>{payload.bytes.length} bytes that are signed</summary>
      <div class="scroll" tabIndex={0} role="group" aria-label="Signed bytes">
        <table>
          <caption class="visually-hidden">The signed bytes by field</caption>
          <thead><tr><th scope="col">Field</th><th scope="col">At</th><th scope="col">Value</th><th scope="col">Bytes</th></tr></thead>
          <tbody>
            {byteTable(payload).map((row) => (
              <tr key={row.offset}><th scope="row">{row.name}</th><td>{row.offset}</td><td>{row.value}</td><td class="dim">{row.hex}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
      {command !== undefined && <Command text={command} name="perp" />}
      <Command text={curl(payload, origin)} name="curl" />
    </details>
  );
}
