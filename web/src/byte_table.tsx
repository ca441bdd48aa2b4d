/* The bytes that a request signs, by field, and the same as a command of curl. */
import { base64 } from './bytes';
import { type Payload, byteTable } from './payload';

function curl({ request, bytes }: Payload, origin: string): string {
  return `curl -X POST ${origin}${request.path} -H 'Content-Type: application/json' \\\n  -d '{"payload":"${base64(bytes)}","public_key":"...","signature":"..."}'`;
}

export function ByteTable({ payload, origin = location.origin }: { payload: Payload; origin?: string }) {
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
        <pre>{curl(payload, origin)}</pre>
      </div>
    </details>
  );
}
