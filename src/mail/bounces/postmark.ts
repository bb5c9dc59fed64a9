import { z } from 'zod'
import type { BounceKind } from '../../domain/mails/senders.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import { parsedAs } from '../../payments/translated.ts'
import { nothing, reportOf, text, type Verified } from './report.ts'

const Notification = z.object({
  RecordType: text,
  ID: z.union([z.number(), z.string()]).optional().catch(undefined),
  Type: text,
  Inactive: z.boolean().optional().catch(undefined),
  Metadata: z.object({ delivery: text }).optional().catch(undefined),
})
type Notification = z.infer<typeof Notification>

/** Other types, such as automatic replies, are no bounces. */
const kinds: Record<string, BounceKind> = {
  HardBounce: 'permanent',
  BadEmailAddress: 'permanent',
  ManuallyDeactivated: 'permanent',
  Transient: 'transient',
  SoftBounce: 'transient',
  DnsError: 'transient',
  Blocked: 'transient',
  DMARCPolicy: 'transient',
  VirusNotification: 'transient',
  SpamNotification: 'complaint',
  SpamComplaint: 'complaint',
}

/**
 * Postmark signs nothing: the secret in the address is what proves a notification, as its documentation says.
 * @see https://postmarkapp.com/developer/webhooks/bounce-webhook
 */
export function readPostmark({ raw }: Incoming): Verified {
  const told = parsedAs(Notification, raw.toString('utf8'))
  if (!told) return nothing
  const { ID, Metadata } = told
  return {
    reports: reportOf({
      kind: kindOf(told),
      notificationId: ID === undefined ? undefined : String(ID),
      ids: [Metadata?.delivery],
    }),
  }
}

/** Postmark sends nothing more to an address that it has made inactive, whatever the type says. */
function kindOf({ RecordType, Type = '', Inactive }: Notification): BounceKind | undefined {
  if (RecordType === 'SpamComplaint') return 'complaint'
  if (RecordType !== 'Bounce') return undefined
  const kind = kinds[Type]
  return kind === 'transient' && Inactive === true ? 'permanent' : kind
}
