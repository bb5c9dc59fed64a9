import {
  connectMailSender,
  disconnectMailSender,
  getMailSender,
  getMailStyle,
  listMails,
  listMailTemplates,
  previewMail,
  receiveMailBounces,
  removeMailTemplate,
  setMailStyle,
  setMailTemplate,
} from '../client/index.ts'
import { expect, rehearsed } from '../program.ts'

const style = { footer: 'London', logo: true }
await rehearsed((query) => setMailStyle({ query, body: style }))
await setMailStyle({ body: style })
const styled = await getMailStyle()
expect('mails have a footer', styled.data, (answer) => answer.style.footer === style.footer)

const template = { kind: 'expired', subject: 'It ended', text: 'Gone.' } as const
await rehearsed((query) => setMailTemplate({ query, body: template }))
await setMailTemplate({ body: template })
const listed = await listMailTemplates()
expect('a mail is worded', listed.data, ({ templates }) => templates[0]?.id === 'expired.*.*')
const preview = await previewMail({ body: { kind: 'expired' } })
expect('it is shown as it is sent', preview.data, ({ mail }) => mail.text === 'Gone.\n\nLondon\n')
const path = { templateId: 'expired.*.*' }
await rehearsed((query) => removeMailTemplate({ path, query }))
const left = await removeMailTemplate({ path })
expect('it is built in again', left.data, ({ templates }) => templates.length === 0)

const sender = { sender: 'postmark' } as const
await rehearsed((query) => connectMailSender({ query, body: sender }))
const { data: connected } = await connectMailSender({ body: sender })
const { address } = expect('bounces have an address', connected, (answer) =>
  answer.address.includes('/webhooks/mail/'),
)
const { pathname, searchParams } = new URL(address)
const [tenantId = ''] = pathname.split('/').slice(-1)
await receiveMailBounces({ path: { tenantId }, query: { token: searchParams.get('token') ?? '' } })
const known = await getMailSender()
expect('the sender is known', known.data, (answer) => answer.sender?.sender === 'postmark')
await rehearsed((query) => disconnectMailSender({ query }))
await disconnectMailSender()
const bounced = { bounce: 'permanent', status: 'delivered', license: 'lic_1', customer: 'cus_1' } as const
const mails = await listMails({ query: { ...bounced, limit: 1, order: 'oldest' } })
expect('no mail has bounced', mails.data, ({ items }) => items.length === 0)
const { data: all } = await listMails({ query: { limit: 1 } })
if (all?.nextCursor) await listMails({ query: { limit: 1, cursor: all.nextCursor } })
