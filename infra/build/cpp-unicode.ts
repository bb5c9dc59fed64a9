/**
 * Writes `src/sdk/cpp/src/unicode-data.inc`: what the C++ client needs to normalize license keys as JavaScript does, read from this
 * Node's own Unicode data. Run it after an update of Node; the test of the C++ client says when it is due.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const target = join(import.meta.dirname, '../../src/sdk/cpp/src/unicode-data.inc')

const isHangul = (point: number) => point >= 0xac00 && point <= 0xd7a3
const points = Array.from({ length: 0x110000 }, (_, point) => point).filter(
  (point) => (point < 0xd800 || point > 0xdfff) && !isHangul(point),
)
const textOf = (point: number) => String.fromCodePoint(point)
const pointsOf = (text: string) => [...text].map((character) => character.codePointAt(0) ?? 0)

/** The points that a function changes, with what becomes of them. */
const changedBy = (change: (text: string) => string) =>
  points.map((point) => [point, change(textOf(point))] as const).filter(([point, to]) => to !== textOf(point))

/** Pairs of points that become one. */
const pairs = points
  .filter((point) => textOf(point).normalize('NFC') === textOf(point))
  .flatMap((point) => {
    const parts = pointsOf(textOf(point).normalize('NFD'))
    const [last = 0] = parts.slice(-1)
    const [first = 0, ...more] = pointsOf(String.fromCodePoint(...parts.slice(0, -1)).normalize('NFC'))
    return parts.length > 1 && more.length === 0 ? [[first, last, point] as const] : []
  })
  .toSorted(([one, after], [other, next]) => one - other || after - next)

const isSwapped = (one: number, other: number) => {
  const text = `a${textOf(one)}${textOf(other)}`
  return text.normalize('NFD') === `a${textOf(other)}${textOf(one)}` && one !== other
}
const iota = 0x345
const overlay = 0x334
/** The marks that move past others, by the order in which they come to stand: their classes, numbered from 1. */
const marks = points
  .filter((point) => textOf(point).normalize('NFD') === textOf(point))
  .filter(
    (point) => point === iota || point === overlay || isSwapped(iota, point) || isSwapped(point, overlay),
  )
  .toSorted((one, other) => (isSwapped(one, other) ? 1 : isSwapped(other, one) ? -1 : 0))
let rank = 1
const ranks = marks
  .map((point, at) => {
    const before = marks[at - 1]
    if (before !== undefined && isSwapped(point, before)) rank++
    return [point, rank] as const
  })
  .toSorted(([one], [other]) => one - other)

function lines(numbers: readonly number[]): string {
  const words = numbers.map((number) => `${number}`)
  const rows: string[] = []
  let row = ''
  for (const word of words) {
    if (row.length + word.length > 140) {
      rows.push(row)
      row = ''
    }
    row += `${word},`
  }
  return [...rows, row].join('\n')
}
const table = (name: string, type: string, numbers: readonly number[]) =>
  `const ${type} ${name}[] = {\n${lines(numbers)}\n};\n`

/** Points, and where in the units of UTF-16 that follow their text ends. */
function mapping(name: string, changed: readonly (readonly [number, string])[]): string {
  let end = 0
  const ends = changed.map(([, to]) => {
    end += to.length
    return end
  })
  return [
    table(
      `${name}_points`,
      'char32_t',
      changed.map(([point]) => point),
    ),
    table(`${name}_ends`, 'std::uint16_t', ends),
    table(
      `${name}_units`,
      'std::uint16_t',
      changed.flatMap(([, to]) => to.split('').map((unit) => unit.charCodeAt(0))),
    ),
  ].join('')
}

writeFileSync(
  target,
  [
    `// Unicode ${process.versions.unicode}, written by infra/build/cpp-unicode.ts.\n`,
    mapping(
      'decomposed',
      changedBy((text) => text.normalize('NFKD')),
    ),
    mapping(
      'upper',
      changedBy((text) => text.toUpperCase()),
    ),
    mapping(
      'lower',
      changedBy((text) => text.toLowerCase()),
    ),
    table('composed', 'char32_t', pairs.flat()),
    table(
      'mark_points',
      'char32_t',
      ranks.map(([point]) => point),
    ),
    table(
      'mark_ranks',
      'std::uint8_t',
      ranks.map(([, of]) => of),
    ),
  ].join(''),
)
