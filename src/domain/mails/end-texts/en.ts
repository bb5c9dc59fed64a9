/** Every text of the mails about the end of a license in English. */
export const en = {
  expiringSubject: 'Your license for {product} expires on {date}',
  expiring: 'Your license for {product} ({plan}) expires on {date}.',
  grace: 'After that, it still works until {until}.',
  expiredSubject: 'Your license for {product} has expired',
  expired: 'Your license for {product} ({plan}) expired on {date} and can no longer be used.',
  fellBackSubject: 'The paid period of your license for {product} has ended',
  fellBack:
    'The paid period of your license for {product} ({plan}) ended on {date}. You can go on using it with fewer features.',
  key: 'License key',
  renew: 'If you want to renew it, reply to this email.',
} as const

/** The name of a text. */
export type EndMailText = keyof typeof en
