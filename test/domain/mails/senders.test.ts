/**
 * Guarantee: a sender is connected with a key of the form that it gives out, and a connection ends the one before it.
 */
import { expect, test } from 'vitest'
import { senderKeyProblem } from '../../../src/domain/mails/senders.ts'
import type { WordingCommand, Wordings } from '../../../src/domain/mails/wordings.ts'
import { builtInWordings, wordings } from '../../../src/domain/mails/wordings.ts'

test.each([
  ['postmark', null],
  [
    'sendgrid',
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==',
  ],
  ['mailgun', '3f9a0c5d7e1b48269d0c7a5e4b1f2d68'],
  ['amazon_ses', 'arn:aws:sns:eu-central-1:123456789012:bounces'],
  ['resend', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
] as const)('the key of %s is accepted', (sender, key) => {
  expect(senderKeyProblem(sender, key)).toBeUndefined()
})

test.each([
  ['postmark', 'a key', 'must be left out: Postmark signs nothing'],
  ['sendgrid', null, /verification key/],
  ['sendgrid', 'SG.x', /verification key/],
  ['mailgun', 'short', /signing key/],
  ['amazon_ses', 'arn:aws:s3:::bucket', /ARN of the SNS topic/],
  ['resend', 're_123', /begins with whsec_/],
] as const)('%s refuses the key %s', (sender, key, message) => {
  expect(senderKeyProblem(sender, key)).toMatch(message)
})

const at = '2026-03-01T12:00:00.000Z'
const connect = (operationId: string): WordingCommand => ({
  type: 'ConnectMailSender',
  tenantId: 'acme',
  sender: 'postmark',
  operationId,
  at,
})
const run = (state: Wordings, command: WordingCommand) =>
  wordings.decide(state, command).reduce(wordings.evolve, state)

test('a repeated connection changes nothing, and another one takes its place', () => {
  const first = run(builtInWordings, connect('req_1'))
  expect(wordings.decide(first, connect('req_1'))).toStrictEqual([])
  const second = run(first, connect('req_2'))
  expect(second.sender).toStrictEqual({ sender: 'postmark', operationId: 'req_2', connectedAt: at })
  expect(second.operationIds).toStrictEqual(['req_1', 'req_2'])
})

test('a connection ends once, and its operation does not connect again', () => {
  const disconnect = { type: 'DisconnectMailSender', tenantId: 'acme', at } as const
  const ended = run(run(builtInWordings, connect('req_1')), disconnect)
  expect(ended.sender).toBeNull()
  expect(wordings.decide(ended, disconnect)).toStrictEqual([])
  expect(wordings.decide(ended, connect('req_1'))).toStrictEqual([])
})
