// Guarantee: an overloaded process returns 503 with Retry-After and recovers by itself; its start does not count,
// and probes are always answered.
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { answerErrors } from '../../src/http/errors.ts'
import { refuseWhenLate } from '../../src/http/limits/overload.ts'

const lateMs = 250

function standStill(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('a late event loop returns 503 until it has caught up, but not because of a slow start', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  answerErrors(app, async () => undefined)
  refuseWhenLate(app, lateMs)
  app.get('/', async () => 'here')
  app.get('/probe', { config: { probe: true } }, async () => 'alive')
  await app.ready()
  standStill(1100)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = async (path: string) => {
    const { status, headers } = await fetch(address + path)
    return { status, retryAfter: headers.get('retry-after') }
  }
  const answered = { status: 200, retryAfter: null }
  const refused = { status: 503, retryAfter: '1' }
  expect(await ask('/')).toStrictEqual(answered)

  // Every iteration of the loop is late, so the mean of any sample is, too.
  const busy = setInterval(() => standStill(2 * lateMs), 1)
  onTestFinished(() => clearInterval(busy))
  await expect.poll(() => ask('/')).toStrictEqual(refused)
  expect(await ask('/probe')).toStrictEqual(answered)
  expect(await ask('/')).toStrictEqual(refused)
  clearInterval(busy)
  await expect.poll(() => ask('/')).toStrictEqual(answered)
})
