import type { Genuine } from './genuine.ts'
import type { Random } from './random.ts'

/** JSON texts of values that no genuine event has. */
const oddTexts: readonly string[] = [
  'null',
  'true',
  '-1',
  '0.5',
  '9007199254740993',
  '1e999',
  '-1e999',
  '1e-999',
  '123456789012345678901234567890',
  '""',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\u202e\\u2066"',
  '"a\\nSigned by the log."',
  '"__proto__"',
  '{"__proto__":{"revision":0}}',
  '{"toString":null,"length":-1}',
  '[]',
  '[[[[[[[[]]]]]]]]',
  '[0,1,2]',
  `"${'long'.repeat(5000)}"`,
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}0${'}'.repeat(20_000)}`,
]

/** The places of a JSON text where a value begins and ends, beside the whole. */
export function valuesIn(text: string): { path: string; from: number; to: number }[] {
  const found: { path: string; from: number; to: number }[] = []
  let at = 0
  const read = (path: string): void => {
    const from = at
    if (text[at] === '{' || text[at] === '[') readInside(path, text[at] === '{')
    else if (text[at] === '"') at += stringAt(text, at).length
    else at += /^[^,\]}\s]*/.exec(text.slice(at, at + 40))?.[0].length ?? 0
    if (path !== '') found.push({ path, from, to: at })
  }
  const readInside = (path: string, isObject: boolean): void => {
    at++
    for (let index = 0; !/[}\]]/.test(text[at] ?? '}'); index++) {
      if (text[at] === ',') at++
      let member = String(index)
      if (isObject) {
        const name = stringAt(text, at)
        member = name.slice(1, -1)
        at += name.length + 1
      }
      read(`${path}/${member}`)
    }
    at++
  }
  read('')
  return found
}

const stringAt = (text: string, at: number): string => /^"(?:[^"\\]|\\.)*"/.exec(text.slice(at))?.[0] ?? '"'

/** A JSON text that differs from another one. */
export function otherValue(before: string, genuine: Genuine, random: Random): string {
  const foreign = random.of(genuine.records)
  const likely = [
    JSON.stringify(foreign.stream),
    JSON.stringify(foreign.id),
    JSON.stringify(foreign.type),
    JSON.stringify(genuine.hostile.tenantId),
    JSON.stringify(foreign.data.tenantId ?? 'tenant'),
    JSON.stringify('2026-01-01T00:00:00.000Z'),
    /^\d+$/.test(before) ? String(Number(before) + 1) : '1',
    before.startsWith('"') ? `${before.slice(0, -1)}x"` : '"x"',
    before.startsWith('"') ? `${before.slice(0, -1)}\\u0000"` : '0',
    before.startsWith('"') ? `${before.slice(0, -1)}\\ud83d"` : '2',
  ].filter((text) => text !== before)
  const odd = oddTexts.filter((text) => text !== before)
  return random.of(random.below(3) === 0 ? odd : likely)
}
