/* CRC-32C (Castagnoli) of ASCII text, as the heartbeats of books carry it. */

const POLYNOMIAL = 0x82f63b78;
const table = new Uint32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL : 0);
  return value;
});

export function crc32c(text: string): number {
  let value = 0xffffffff;
  for (let i = 0; i < text.length; i++)
    value = (value >>> 8) ^ table[(value ^ text.charCodeAt(i)) & 0xff];
  return (value ^ 0xffffffff) >>> 0;
}
