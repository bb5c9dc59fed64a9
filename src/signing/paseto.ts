/**
 * Tokens of the kind `v4.public` of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion
 * that is signed but not sent.
 * @see https://github.com/paseto-standard/paseto-spec/blob/master/docs/01-Protocol-Versions/Version4.md
 */
const header = 'v4.public.'

/** The bytes to sign: the parts with their number and lengths before them, so that none can take bytes of another. */
export function bytesToSign(message: string, footer: string, assertion: string): Buffer {
  const parts = [header, message, footer, assertion].map((text) => Buffer.from(text))
  return Buffer.concat([uint64(parts.length), ...parts.flatMap((part) => [uint64(part.length), part])])
}

/** The token of what was signed. @param signature base64 */
export function tokenOf(message: string, footer: string, signature: string): string {
  const body = Buffer.concat([Buffer.from(message), Buffer.from(signature, 'base64')])
  const readable = footer === '' ? '' : `.${Buffer.from(footer).toString('base64url')}`
  return `${header}${body.toString('base64url')}${readable}`
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
