/**
 * A source of random bytes, such as `randomBytes` of `node:crypto`; a parameter, so that results are testable.
 */
export type RandomBytes = (size: number) => Uint8Array

/**
 * Makes random text from an alphabet with each character equally likely: bytes that would favor its start are
 * skipped.
 */
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
