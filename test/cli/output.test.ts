/**
 * Guarantee: control characters in names are removed from terminal output, and the JSON output
 * contains the exact values.
 */
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { fields, print, printToStderr, table } from '../../src/terminal/output.ts'
import { anyText } from '../domain/any-text.ts'

afterEach(() => vi.restoreAllMocks())

function printed(work: () => void): string {
  const texts: string[] = []
  const write = (text: string | Uint8Array) => texts.push(String(text)) > 0
  const out = vi.spyOn(process.stdout, 'write').mockImplementation(write)
  const err = vi.spyOn(process.stderr, 'write').mockImplementation(write)
  work()
  out.mockRestore()
  err.mockRestore()
  return texts.join('')
}

/**
 * Clears the screen, sets a title, reverses the direction, hides text, and returns to the beginning of the line.
 */
const hostile =
  'Ada\u001b[2J\u001b]0;title\u0007\u009b31m\u202egnp.exe\u200b\u{e0041}\u0000\r\nNOT VERIFIED\tx'

test('terminal output contains no control, bidirectional or invisible characters, and each line stays one line', () => {
  const outputs = [
    printed(() => print({}, undefined, () => [hostile])),
    printed(() => print({}, undefined, () => fields({ name: hostile, nested: [{ name: hostile }] }))),
    printed(() => printToStderr(hostile.replace('\n', ' '))),
  ]
  for (const output of outputs) expect(output).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}]/u)
  expect(outputs[0]).toBe('Ada[2J]0;title31mgnp.exe NOT VERIFIED\tx\n')
})

test('a table keeps its columns aligned', () => {
  const [first = '', second = '', ...more] = table([
    ['a', hostile, 'end'],
    ['b', 'Grace', 'end'],
  ])
  expect(more).toStrictEqual([])
  expect(first.lastIndexOf('end')).toBe(second.lastIndexOf('end'))
})

test('JSON output contains the exact values and no control characters', () =>
  fc.assert(
    fc.property(anyText, (text) => {
      const value = { [text]: [text, hostile] }
      const output = printed(() => print({ json: true }, value, () => []))
      expect(output).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}]/u)
      expect(JSON.parse(output)).toStrictEqual(value)
    }),
    { numRuns: 300 },
  ))
