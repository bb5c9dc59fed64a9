/** Guarantee: every tool that sends a POST which takes an Idempotency-Key sends one, and an agent learns it when it has to repeat. */
import { expect, test } from 'vitest'
import { resultOf } from '../../src/mcp/result.ts'
import { allTools } from '../../src/mcp/server.ts'
import { everyArgument } from './every-tool.ts'

const changing = allTools.filter(({ effect }) => effect !== 'reads')

test.each(changing.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const { idempotencyKey: _, ...given } = { idempotencyKey: '', ...everyArgument[name] }
  const sent = tool.request(given)
  const gated = 'confirmationId' in tool.input.shape
  expect(sent.idempotencyKey !== undefined).toBe(sent.method === 'POST' && !gated)
  expect(sent.body ?? {}).not.toHaveProperty('idempotencyKey')
  if (sent.idempotencyKey === undefined) return
  expect(tool.request(given).idempotencyKey).not.toBe(sent.idempotencyKey)
  expect(tool.request({ ...given, idempotencyKey: 'mine' }).idempotencyKey).toBe('mine')
})

test('an answer that leaves it open whether the call was done names the key', () => {
  const answer = {
    status: 503,
    body: { error: 'it is safe to retry with the same Idempotency-Key' },
    retryAfter: 1,
  }
  expect(resultOf(answer, 'mine').content).toStrictEqual([
    {
      type: 'text',
      text:
        'Refused (503): it is safe to retry with the same Idempotency-Key. Repeat it after 1 s. Repeat it with the ' +
        'idempotencyKey mine',
    },
  ])
})
