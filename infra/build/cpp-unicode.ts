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

function rows(words: readonly string[]): string {
  const rows: string[] = []
  let row = ''
  for (const word of words) {
    if (row.length + word.length > 140) {
      rows.push(row)
      row = ''
    }
    row += word
  }
  return [...rows, row].join('\n')
}
const table = (name: string, type: string, numbers: readonly number[]) =>
  `const ${type} ${name}[] = {\n${rows(numbers.map((number) => `${number},`))}\n};\n`

type Change = readonly [point: number, to: string]
/** Changed points that follow each other in equal steps, with texts of one length, or with one point that takes the same steps. */
type Run = { changes: Change[]; step: number; slides: boolean }

const unitsOf = (text: string) => text.split('').map((unit) => unit.charCodeAt(0))

/** The longest run that begins here. */
function runFrom(changed: readonly Change[], from: number, step: number, slides: boolean): Run {
  const [first, text] = changed[from] ?? [0, '']
  const [image = 0, ...more] = pointsOf(text)
  const fits = ([point, to]: Change, at: number) =>
    point === first + at * step &&
    (slides ? more.length === 0 && to === textOf(image + at * step) : to.length === text.length)
  const rest = changed.slice(from)
  const end = rest.findIndex((change, at) => !fits(change, at))
  return { changes: rest.slice(0, end < 0 ? rest.length : Math.max(end, 1)), step, slides }
}
const longest = (changed: readonly Change[], from: number, slides: boolean): Run =>
  [1, 2]
    .map((step) => runFrom(changed, from, step, slides))
    .reduce((one, other) => (other.changes.length > one.changes.length ? other : one))

function runsOf(changed: readonly Change[]): Run[] {
  const runs: Run[] = []
  for (let from = 0; from < changed.length; from += runs.at(-1)?.changes.length ?? 1) {
    const sliding = longest(changed, from, true)
    const plain = longest(changed, from, false)
    // Where a long sliding run begins, the plain one before it ends.
    const next = plain.changes.findIndex((_, at) => longest(changed, from + at, true).changes.length > 5)
    const kept = next > 0 ? { ...plain, changes: plain.changes.slice(0, next) } : plain
    runs.push(sliding.changes.length > 3 ? sliding : kept)
  }
  return runs
}

/** The runs of a function's changes, and the units of UTF-16 of their texts. */
function mapping(name: string, changed: readonly Change[]): string {
  const units: number[] = []
  const runs = runsOf(changed).map(({ changes, step, slides }) => {
    const texts = changes.map(([, to]) => to)
    const row = [changes[0]?.[0], changes.length, units.length, step, texts[0]?.length, Number(slides)]
    units.push(...(slides ? texts.slice(0, 1) : texts).flatMap(unitsOf))
    return `{${row.join()}},`
  })
  return `const run ${name}_runs[] = {\n${rows(runs)}\n};\n${table(`${name}_units`, 'std::uint16_t', units)}`
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
