/**
 * Guarantee: the exit code says whether to retry (3), to change the request (1), or to change the command line (2).
 */
import { afterEach, expect, test, vi } from 'vitest'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { ScratchInUse } from '../../projections/runner/replay.ts'
import { reportFailure } from '../../src/app/exit.ts'
import { TimeoutError } from '../../src/async/timeout.ts'
import { ConfigError } from '../../src/config.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { invalid, Problem, unavailable } from '../../src/http/problem.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { ProviderRefused, ProviderUnavailable } from '../../src/payments/errors.ts'
import { CommandRefused, CommandUnavailable } from '../../src/terminal/exit-codes.ts'

afterEach(() => vi.restoreAllMocks())

test.each<[what: string, error: Error, code: number]>([
  ['a refusal of a rule', new Refusal('license_revoked'), 1],
  ['a malformed request', invalid('no'), 1],
  ['a request that the provider rejects', new ProviderRefused('stripe', 'key'), 1],
  ['a refusal of the command itself', new CommandRefused('no'), 1],
  ['an invalid configuration', new ConfigError('no'), 2],
  ['unavailable state', unavailable('the state cannot be read'), 3],
  ['too many calls', new Problem(429, 'rate_limited', 'too many requests; try again in 1 second'), 3],
  ['a provider that does not respond', new ProviderUnavailable('stripe', 'no answer'), 3],
  ['a log that does not respond', new LedgerUnavailable('no answer'), 3],
  ['read models that are behind', new ReadModelsBehind(1n, undefined), 3],
  ['a store that times out', new TimeoutError(1000), 3],
  ['a database that refuses connections', Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), 3],
  ['another process running the same replay', new ScratchInUse(), 3],
  ['a command that is unavailable for now', new CommandUnavailable('not now'), 3],
  ['a bug', new TypeError('oops'), 70],
])('%s gets its exit code', (_what, error, code) => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  expect(reportFailure(error)).toBe(code)
  expect(said).toHaveBeenCalledOnce()
  expect(String(said.mock.calls[0]?.[0]).includes('\n    at ')).toBe(code === 70)
})
