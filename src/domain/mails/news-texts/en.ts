/** Every text of the mails that tell what is new about a license, in English. */
export const en = {
  expiringSubject: 'Your license for {product} expires on {date}',
  expiring: 'Your license for {product} ({plan}) expires on {date}.',
  grace: 'After that, it still works until {until}.',
  expiredSubject: 'Your license for {product} has expired',
  expired: 'Your license for {product} ({plan}) expired on {date} and can no longer be used.',
  fellBackSubject: 'The paid period of your license for {product} has ended',
  fellBack:
    'The paid period of your license for {product} ({plan}) ended on {date}. You can go on using it with fewer features.',
  renewalFailedSubject: 'The payment to renew your license for {product} failed',
  renewalFailed: 'The payment to renew your license for {product} ({plan}) failed.',
  retry: 'The payment will be tried again on {retry}.',
  works: 'Your license works until {until}.',
  usageSubject: '{percent} % of {meter} of your license for {product} is used',
  usage:
    'Your license for {product} ({plan}) has used {used} {unit} of {meter}: {percent} % of what it has. {remaining} {unit} are left.',
  resets: 'Counting starts over on {resets}.',
  more: 'If you need more, reply to this email.',
  newDeviceSubject: 'A new device uses your license for {product}',
  newDevice: 'The device “{device}” was added to your license for {product} ({plan}) on {date}.',
  remove: 'If you do not know it, remove it and reply to this email.',
  seatsFullSubject: 'All seats of your license for {product} are taken',
  seatsFull:
    'All {seats} seats of your license for {product} ({plan}) are taken. Another device cannot use it.',
  free: 'To use it on another device, remove one that you no longer need. If you need more seats, reply to this email.',
  seatGivenSubject: 'You have a seat of {product}',
  seatGiven: 'You have been given a seat of {product} ({plan}).',
  signIn: 'Sign in with this email address to read your license key.',
  key: 'License key',
  pay: 'Please check the payment method of your subscription. If you have questions, reply to this email.',
  renew: 'If you want to renew it, reply to this email.',
} as const

/** The name of a text. */
export type NewsMailText = keyof typeof en
