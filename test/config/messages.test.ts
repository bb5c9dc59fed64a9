// Guarantee: for every invalid value the message names the variable, what is allowed and the value, without
// credentials. An unknown variable is refused together with the most similar known one.
import { describe, expect, test } from 'vitest'
import { shownValue } from '../../src/config/shown.ts'
import { editsBetween } from '../../src/config/unknown.ts'
import { parseConfig, variables } from '../../src/config.ts'

/** The error of the configuration; undefined when it is accepted. */
function refusal(environment: Record<string, string>): string | undefined {
  try {
    parseConfig(environment)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('each variable', () => {
  const nonsense = ['ünsinn', '-1', 'NaN', '1e400', 'true ', 'https://', '999999999999999999', '\u0007']

  test.each(variables)('%s says what it must be', (name) => {
    for (const value of nonsense) {
      const message = refusal({ [name]: value })
      if (message === undefined) continue
      const [first = '', line = '', ...more] = message.split('\n  ')
      expect(first).toBe('The configuration is not valid.')
      // Some need another variable, which the message then names.
      expect(line).toMatch(/^KEYLEDGER_\w+: (?:must|needs) /)
      expect(more).toStrictEqual([])
      expect(message).not.toMatch(/expected|received|invalid|NaN,|undefined/i)
    }
  })
})

test('all problems are reported at once', () =>
  expect(refusal({ KEYLEDGER_PORT: '80a', KEYLEDGER_LOG_LEVEL: 'loud', KEYLEDGER_HSOT: '0.0.0.0' })).toBe(
    [
      'The configuration is not valid.',
      'KEYLEDGER_PORT: must be a whole number from 0 to 65535; it is "80a"',
      'KEYLEDGER_LOG_LEVEL: must be fatal, error, warn, info, debug, trace or silent; it is "loud"',
      'KEYLEDGER_HSOT: is not a keyledger variable; did you mean KEYLEDGER_HOST?',
    ].join('\n  '),
  ))

test('a value that Kubernetes sets for a service is explained', () =>
  expect(refusal({ KEYLEDGER_PORT: 'tcp://10.0.0.1:80' })).toContain('set enableServiceLinks: false'))

describe('of a value', () => {
  test.each([
    ['KEYLEDGER_PORT', '80a', '"80a"'],
    ['KEYLEDGER_PORT', 'x'.repeat(100), `"${'x'.repeat(60)}…"`],
    ['KEYLEDGER_LOG_LEVEL', '\u001b[2J', '"\\u001b[2J"'],
    ['KEYLEDGER_DATABASE_URL', 'mysql://me:hunter2@db/x', 'a URL that begins with mysql://'],
    ['KEYLEDGER_SMTP_URL', 'me:hunter2@mail.example.com', 'a value without ://'],
    ['KEYLEDGER_METRICS_TOKEN', 'hunter2', 'a value of length 7, which is not shown'],
    ['KEYLEDGER_STRIPE_WEBHOOK_SECRET', 'hunter2', 'a value of length 7, which is not shown'],
    // Pasted into the wrong variable.
    ['KEYLEDGER_PORT', 'sk_live_hunter2', 'a value of length 15, which is not shown'],
    ['KEYLEDGER_HOST', 'postgres://me:hunter2@db/x', 'a value of length 26, which is not shown'],
  ])('%s=%s is shown as %s', (name, value, shown) => {
    expect(shownValue(name, value)).toBe(shown)
    expect(shownValue(name, value)).not.toContain('hunter2')
  })
})

describe('an unknown variable', () => {
  test.each([
    ['KEYLEDGER_TRUSTED_PROXY', 'KEYLEDGER_TRUST_PROXY'],
    ['KEYLEDGER_METRIC_TOKEN', 'KEYLEDGER_METRICS_TOKEN'],
    ['KEYLEDGER_DATABASE', 'KEYLEDGER_DATABASE_URL'],
    ['KEYLEDGER_PROT', 'KEYLEDGER_PORT'],
    ['KEYLEDGER_NATS_ULR', 'KEYLEDGER_NATS_URL'],
    ['KEYLEDGER_LIMIT_CLIENT_VALIDATES', 'KEYLEDGER_LIMIT_CLIENT_VALIDATE'],
  ])('%s was meant as %s', (name, meant) =>
    expect(refusal({ [name]: 'x' })).toContain(
      `${name}: is not a keyledger variable; did you mean ${meant}?`,
    ),
  )

  test('gets no suggestion when no name is similar', () =>
    expect(refusal({ KEYLEDGER_COLOUR_OF_THE_SKY: 'blue' })).toBe(
      'The configuration is not valid.\n  KEYLEDGER_COLOUR_OF_THE_SKY: is not a keyledger variable; remove it, or see docs/reference/configuration.md',
    ))

  test.each([
    // Variables of the tests, set where the product runs beside them.
    ['KEYLEDGER_TEST_KILLS', '100'],
    ['KEYLEDGER_FUZZ_RUNS', '100000'],
    // Variables of Kubernetes, for services called keyledger-api and keyledger.
    ['KEYLEDGER_API_SERVICE_HOST', '10.0.0.1'],
    ['KEYLEDGER_API_SERVICE_PORT_HTTP', '80'],
    ['KEYLEDGER_API_PORT', 'tcp://10.0.0.1:80'],
    ['KEYLEDGER_API_PORT_80_TCP_ADDR', '10.0.0.1'],
    ['KEYLEDGER_PORT_80_TCP', 'tcp://10.0.0.1:80'],
    ['KEYLEDGER_SERVICE_HOST', '10.0.0.1'],
    // Absent.
    ['KEYLEDGER_PROT', ''],
  ])('%s=%s is not taken for a mistake', (name, value) => expect(refusal({ [name]: value })).toBeUndefined())

  test('is counted in edits', () => {
    expect(editsBetween('PORT', 'PORT')).toBe(0)
    expect(editsBetween('PROT', 'PORT')).toBe(1)
    expect(editsBetween('', 'HOST')).toBe(4)
    expect(editsBetween('HOST', '')).toBe(4)
    expect(editsBetween('NATS_URI', 'NATS_URL')).toBe(1)
    expect(editsBetween('LIMITS', 'LIMIT')).toBe(1)
  })
})
