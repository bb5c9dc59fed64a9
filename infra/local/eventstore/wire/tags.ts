const varint = 0
const lengthDelimited = 2

/** The tag of a field that holds a number. */
export function number(field: number): number {
  return (field << 3) | varint
}

/** The tag of a field that holds text, bytes or a message. */
export function bytes(field: number): number {
  return (field << 3) | lengthDelimited
}
