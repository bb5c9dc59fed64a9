import { afterAll, beforeAll, expect } from 'vitest'
import { createMailChannel } from '../../src/mail/channel.ts'
import type { Mailer, OutgoingMail, Sending } from '../../src/mail/mailer.ts'
import { openTestApi, type TestApi } from './api.ts'
import { startDispatch, type TestDispatch } from './dispatch.ts'

export const taken: Sending = { taken: true, status: 250, answer: '250 OK' }
export const refused: Sending = { taken: false, problem: 'connection', status: null, answer: null }

/** An application whose mails are sent, for the tests of a file, and what its mail server was asked to take. */
export type MailingApi = {
  readonly api: TestApi
  readonly dispatch: TestDispatch
  /** Also those that were refused. */
  readonly sent: OutgoingMail[]
  readonly accepted: OutgoingMail[]
  /** How the mail server answers. */
  answer: (mail: OutgoingMail) => Sending
}

/** Opens it before the tests of the file, and closes it after them. No attempt may have failed otherwise than by the mail server. */
export function openMailingApi(): MailingApi {
  let api: TestApi
  let dispatch: TestDispatch
  const mailing: MailingApi = {
    get api() {
      return api
    },
    get dispatch() {
      return dispatch
    },
    sent: [],
    accepted: [],
    answer: () => taken,
  }
  const mailer: Mailer = {
    async send(mail) {
      mailing.sent.push(mail)
      const answer = mailing.answer(mail)
      if (answer.taken) mailing.accepted.push(mail)
      return answer
    },
    async close() {},
  }
  beforeAll(async () => {
    const from = { name: null, email: 'licenses@keyledger.example' }
    api = await openTestApi({ mailing: { mailer, mailbox: undefined, from } })
    dispatch = await startDispatch(api.ledger, {
      channels: { mail: createMailChannel(api.ledger.ports, 'https://keys.acme.example') },
    })
  })
  afterAll(async () => {
    await dispatch.stop()
    expect(dispatch.failures).toStrictEqual([])
    await api.close()
  })
  return mailing
}
