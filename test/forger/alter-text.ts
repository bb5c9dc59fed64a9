import {
  type Alteration,
  type Altered,
  type Pair,
  pairedNames,
  placeIn,
  proofsName,
  setPair,
  touchedBy,
} from './work.ts'

/** Another text of a JSON object. `same` ones are the same JSON for each reader; the others are none, or not for each. */
export const respelled: readonly { same: boolean; of: (text: string) => string }[] = [
  { same: true, of: (text) => text.replace('":', '" :') },
  { same: true, of: (text) => text.replace('{', '{ ') },
  { same: true, of: (text) => `${text} ` },
  { same: true, of: (text) => `${text}\r` },
  {
    same: true,
    of: (text) =>
      text.replace(/"([a-z])/, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`),
  },
  { same: true, of: (text) => text.replaceAll(',"', ',\t"') },
  { same: false, of: (text) => `\ufeff${text}` },
  { same: false, of: (text) => `\u00a0${text}` },
  { same: false, of: (text) => `${text},` },
  { same: false, of: (text) => `${text}{}` },
  { same: false, of: (text) => `[${text}]` },
  { same: false, of: (text) => text.trimEnd().slice(0, -1) },
  { same: false, of: (text) => text.replace(/\}\s*$/, ',}') },
  { same: false, of: (text) => text.replace(/\}\s*$/, ',"__proto__":{"revision":0}}') },
  { same: false, of: (text) => text.replace(/\}\s*$/, ',"constructor":{"prototype":{"id":1}}}') },
  { same: false, of: (text) => text.replace(/\}\s*$/, ',"extra":true}') },
  { same: false, of: (text) => text.replace(/\{("[a-zA-Z]+":(?:"[^"]*"|\d+))/, '{$1,$1') },
  { same: false, of: (text) => text.replace(/\{\s*"([a-zA-Z]+)":/, '{"$1":"other","$1":') },
  {
    same: false,
    of: (text) =>
      text.replace(
        /\{\s*"([a-z])([a-zA-Z]+)":/,
        (_, first: string, rest: string) =>
          `{"\\u00${first.charCodeAt(0).toString(16)}${rest}":1,"${first}${rest}":`,
      ),
  },
  { same: false, of: (text) => text.replace('{', '{/* */') },
  { same: false, of: (text) => text.replaceAll('"', "'") },
  { same: false, of: (text) => `${'['.repeat(100_000)}${text}${']'.repeat(100_000)}` },
  {
    same: false,
    of: (text) => text.replace(/\}\s*$/, `,"deep":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`),
  },
  { same: false, of: () => 'null' },
  { same: false, of: () => '' },
]

/** Another text of a line, or of its proof. */
export const respell: Alteration = (work, random) => {
  const place = placeIn(work, random)
  const pair = place?.pairs[place.at]
  if (!place || !pair) return undefined
  const side: keyof Pair = random.of(['event', 'proof'])
  const { same, of } = random.of(respelled)
  const text = of(pair[side])
  if (text === pair[side]) return undefined
  setPair(work, place, { [side]: text })
  const name = side === 'event' ? place.name : proofsName(place.name)
  const remains: Altered['remains'] = ({ files }) =>
    files.get(name)?.toString().split('\n').slice(0, -1).includes(text) ?? false
  return { verdict: same ? 'partly' : 'refused', touched: touchedBy(place), remains }
}

const bytesOf: readonly { same: boolean; of: (content: Buffer) => Buffer }[] = [
  { same: true, of: (content) => Buffer.from(content.toString('latin1').replaceAll('\n', '\r\n'), 'latin1') },
  { same: false, of: (content) => Buffer.concat([Buffer.from('efbbbf', 'hex'), content]) },
  { same: false, of: (content) => content.subarray(0, -1) },
  { same: false, of: (content) => Buffer.concat([content, Buffer.from('\n')]) },
  { same: false, of: (content) => Buffer.concat([Buffer.from('\n'), content]) },
  { same: false, of: (content) => Buffer.concat([content, Buffer.from('{}')]) },
  { same: false, of: (content) => content.subarray(0, Math.floor(content.length / 2)) },
  { same: false, of: (content) => invalid(content, 'ff') },
  { same: false, of: (content) => invalid(content, 'c080') },
  { same: false, of: (content) => invalid(content, 'eda080') },
  { same: false, of: (content) => invalid(content, 'f4908080') },
  { same: false, of: (content) => Buffer.from(content.toString(), 'utf16le') },
  {
    same: false,
    of: (content) => Buffer.from(content.toString('latin1').replaceAll('\n', '\u0085'), 'latin1'),
  },
]

/** Bytes that are no UTF-8, within the first string. */
function invalid(content: Buffer, bytes: string): Buffer {
  const at = content.indexOf('"') + 1
  return Buffer.concat([content.subarray(0, at), Buffer.from(bytes, 'hex'), content.subarray(at)])
}

/** Bytes of a file of lines: line breaks, byte order mark, bytes that are no UTF-8. */
export const bendBytes: Alteration = (work, random) => {
  const names = pairedNames(work)
  if (names.length === 0) return undefined
  const of = random.of(names)
  const name = random.of([of, proofsName(of)])
  const before = work.files.get(name)
  if (!before) return undefined
  const bend = random.of(bytesOf)
  const after = bend.of(before)
  work.files.set(name, after)
  return {
    verdict: bend.same ? 'partly' : 'refused',
    touched: [name, of, proofsName(of)],
    remains: ({ files }) => files.get(name)?.equals(after) ?? false,
  }
}
