/**
 * The raw form (`workchain:hash`, lower-case) of a TON address written raw or in one of its four friendly spellings
 * (base64 or base64url); undefined for anything else, for workchains but the basic one and the masterchain, and for
 * addresses marked as test-only unless `testOnly` is let in.
 */
export function parseTonAddress(text: string, options: { testOnly: boolean }): string | undefined {
  if (/^(0|-1):[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  if (!/^[A-Za-z0-9+/_-]{48}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  const [tag = 0, workchain] = [bytes[0], bytes.readInt8(1)]
  if (crc16(bytes.subarray(0, 34)) !== bytes.readUInt16BE(34)) return undefined
  if (![bounceableTag, nonBounceableTag].includes(tag & 0x7f) || (workchain !== 0 && workchain !== -1)) return undefined
  if ((tag & testOnlyFlag) !== 0 && !options.testOnly) return undefined
  return `${workchain}:${bytes.subarray(2, 34).toString('hex')}`
}

/** The spelling wallets show: friendly, not bounceable, safe in urls. `address` is raw. */
export function formatTonAddress(address: string): string {
  const { workchain, hash } = tonAddressParts(address)
  const body = Buffer.from([nonBounceableTag, workchain & 0xff, ...hash])
  const sum = crc16(body)
  return Buffer.from([...body, sum >> 8, sum & 0xff]).toString('base64url')
}

/** Workchain and account of a raw address. */
export function tonAddressParts(address: string): { workchain: number; hash: Uint8Array } {
  const [workchain = '', hash = ''] = address.split(':')
  return { workchain: Number(workchain), hash: Uint8Array.from(Buffer.from(hash, 'hex')) }
}

const bounceableTag = 0x11
const nonBounceableTag = 0x51
const testOnlyFlag = 0x80

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << 8
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x8000) === 0 ? sum << 1 : (sum << 1) ^ 0x1021
    sum &= 0xffff
  }
  return sum
}
