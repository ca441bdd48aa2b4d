/* A payload, pasted: what every byte of it is. */
import { useState } from 'preact/hooks';
import { API, type Problem, ask } from './api';
import { decode } from './decoder';

/** What the exchange says of an envelope, where it judges them. */
function Verdict({ text }: { text: string }) {
  const [said, setSaid] = useState<{ text: string; lines: string[] } | null>(null);
  const lines = said?.text === text ? said.lines : [];
  const judge = async () => {
    try {
      const { body } = await ask(`${API}/debug/payload`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text });
      setSaid({ text, lines: [
        ...body.checks.map((one: any) => `${one.ok ? '✓' : '✗'} ${one.check}${one.code === undefined ? '' : `: ${one.code}`} ${one.detail ?? ''}`),
        ...body.mistakes.map((one: any) => `${body.proved ? 'proved' : 'perhaps'}: ${one.mistake}. ${one.detail}`),
      ] });
    } catch (caught) {
      const { status, message } = caught as Problem;
      setSaid({ text, lines: [status === 404 ? 'This exchange judges no payloads (net.debug_payload).' : message] });
    }
  };
  return <div class="health-line"><button type="button" class="button" onClick={() => void judge()}>ask the exchange</button>{lines.length > 0 && <ul class="verdict" role="status">{lines.map((line) => <li key={line}>{line}</li>)}</ul>}</div>;
}

export function DecoderPane() {
  const [text, setText] = useState('');
  const { rows, wrong } = decode(text);
  return (
    <div class="pane-decoder">
      <label class="health-line">Base64, hex, or a signed envelope
        <textarea id="decoder" rows={3} spellcheck={false} autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {wrong !== null && <p class="health-line tone-bad" role="status">{wrong.at !== null && `byte ${wrong.at}: `}{wrong.text}</p>}
      {text.trim().startsWith('{') && <Verdict text={text.trim()} />}
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="group" aria-label="Decoded bytes">
          <table>
            <caption class="visually-hidden">The bytes by field</caption>
            <thead><tr><th scope="col">Field</th><th scope="col">At</th><th scope="col">Size</th><th scope="col">Value</th><th scope="col">Bytes</th></tr></thead>
            <tbody>{rows.map((row) => (
              <tr key={row.offset} class={wrong?.at != null && wrong.at >= row.offset && wrong.at < row.offset + row.size ? 'sell' : undefined}>
                <th scope="row">{row.name}</th><td>{row.offset}</td><td>{row.size}</td><td>{row.value}</td><td class="dim">{row.hex}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
    </div>
  );
}
