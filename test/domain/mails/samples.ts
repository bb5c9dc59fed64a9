import type { WordingCommand } from '../../../src/domain/mails/wordings.ts'
import { goldenData } from '../golden.ts'

export const wordingCommands: readonly WordingCommand[] = [
  { type: 'SetMailTemplate', ...goldenData('wording', 'MailTemplateSet') },
  { type: 'RemoveMailTemplate', ...goldenData('wording', 'MailTemplateRemoved') },
  { type: 'ChangeMailStyle', ...goldenData('wording', 'MailStyleChanged') },
  { type: 'ConnectMailSender', ...goldenData('wording', 'MailSenderConnected') },
  { type: 'DisconnectMailSender', ...goldenData('wording', 'MailSenderDisconnected') },
]
