// Guarantee: docs/reference/configuration.md lists exactly the variables that are read, each once, with its
// default.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseConfig, variables } from '../../src/config.ts'

const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8')
/** The name and default of each row. */
const rows = [...page.matchAll(/^\| `(KEYLEDGER_\w+)` *\| (.*?) +\| /gm)].map(
  ([, name = '', stated = '']) => ({
    name,
    stated,
  }),
)

test('every variable has one row, and every row a variable', () =>
  expect(rows.map(({ name }) => name).sort()).toStrictEqual([...variables].sort()))

test.each(
  rows.flatMap(({ name, stated }) => {
    const value = /^`([^`<]+)`/.exec(stated)?.[1]
    return value === undefined || value.startsWith('KEYLEDGER_') || value === 'master.key'
      ? []
      : [{ name, value }]
  }),
)('the stated default of $name, $value, is the one that is used', ({ name, value }) =>
  expect(parseConfig({ [name]: value })).toStrictEqual(parseConfig({})),
)
