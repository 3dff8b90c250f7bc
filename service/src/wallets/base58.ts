const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const lengthMax = 128

/** Bytes of a base58 text (the Bitcoin alphabet, leading ones are zero bytes); undefined for anything else or too long. */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length > lengthMax) return undefined
  let number = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit === -1) return undefined
    number = number * 58n + BigInt(digit)
  }
  const hex = number === 0n ? '' : number.toString(16)
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  return Uint8Array.from([...new Uint8Array(zeros), ...Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')])
}
