// Guarantee: a process that cannot keep up says so with 503 and when to come again, and goes on by itself; how long it
// took to start is not held against it.
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { answerErrors } from '../../src/http/errors.ts'
import { refuseWhenLate } from '../../src/http/overload.ts'

/** As long as a whole sample, in which the loop does not turn. */
function standStill(): void {
  for (const until = performance.now() + 1100; performance.now() < until; );
}

test('a late loop refuses until it has caught up, and not because of its start', async () => {
  const app = Fastify()
  onTestFinished(() => app.close())
  answerErrors(app, async () => undefined)
  await refuseWhenLate(app, 1000)
  app.get('/', async () => 'here')
  await app.ready()
  standStill()
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = async () => {
    const { status, headers } = await fetch(address)
    return { status, retryAfter: headers.get('retry-after') }
  }
  expect(await ask()).toStrictEqual({ status: 200, retryAfter: null })

  const askBehindStandstill = () => {
    standStill()
    return ask()
  }
  await expect.poll(askBehindStandstill).toStrictEqual({ status: 503, retryAfter: '1' })
  await expect.poll(ask).toStrictEqual({ status: 200, retryAfter: null })
})
