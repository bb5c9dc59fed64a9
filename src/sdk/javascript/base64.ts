/** The bytes of canonical base64; undefined for anything else: another spelling of the same bytes is not what was sent. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(base64)
    if (btoa(text) !== base64) return undefined
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
