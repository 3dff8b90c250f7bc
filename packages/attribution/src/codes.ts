const distributorCode = /^[A-Za-z0-9_-]{1,32}$/
const plainText = /^[^\p{Cc}\p{Cs}]{1,128}$/u
const referralCode = /^[A-Za-z0-9_-]{1,64}$/

/** Whether a code can name a distributor: 1 to 32 characters of A–Z, a–z, 0–9, `_` and `-`, compared byte for byte. */
export function isDistributorCode(code: string): boolean {
  return distributorCode.test(code)
}

/** Whether a text can be a referral code: 1 to 64 characters of A–Z, a–z, 0–9, `_` and `-`. */
export function isReferralCode(code: string): boolean {
  return referralCode.test(code)
}

/** Whether a foreign text may be kept as a short name: 1 to 128 characters, none a control character or half of one. */
export function isPlainText(text: string): boolean {
  return plainText.test(text)
}
