/**
 * A value as one segment of a path, such that the server sees exactly this value.
 * @throws TypeError for a value that no path can contain: URL parsers take dots for a step in the path even when they are
 *   encoded, and unpaired surrogates have no encoding
 */
export function segment(name: string, value: string): string {
  if (value === '') throw new TypeError(`${name} is missing`)
  if (/^\.\.?$|\p{Surrogate}/u.test(value))
    throw new TypeError(`${name} ${JSON.stringify(value)} is not an id`)
  return encodeURIComponent(value)
}
