/** Where random bytes come from; `randomBytes` of `node:crypto`, given in so that what is made is testable. */
export type RandomBytes = (size: number) => Uint8Array

/** Random characters of an alphabet, each equally likely: bytes that would favour its beginning are dropped. */
export function randomText(alphabet: string, length: number, randomBytes: RandomBytes): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
