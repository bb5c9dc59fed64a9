const VARINT = 0
const LENGTH_DELIMITED = 2

/** The tag of a field that holds a number. */
export function number(field: number): number {
  return (field << 3) | VARINT
}

/** The tag of a field that holds text, bytes or a message. */
export function bytes(field: number): number {
  return (field << 3) | LENGTH_DELIMITED
}
