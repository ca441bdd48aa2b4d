/* A payload, pasted: what every byte of it is. */
import { useState } from 'preact/hooks';
import { decode } from './decoder';

export function DecoderPane() {
  const [text, setText] = useState('');
  const { rows, wrong } = decode(text);
  return (
    <div class="pane-decoder">
      <label class="health-line">Base64, hex, or a signed envelope
        <textarea id="decoder" rows={3} spellcheck={false} autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {wrong !== null && <p class="health-line tone-bad" role="status">{wrong.at !== null && `byte ${wrong.at}: `}{wrong.text}</p>}
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
