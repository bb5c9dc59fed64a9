import {
  getMailStyle,
  listMailTemplates,
  previewMail,
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
