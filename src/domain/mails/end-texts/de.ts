// cspell:disable -- German
import type { EndMailText } from './en.ts'

/** Every text of the mails about the end of a license, failed renewals and thresholds of meters in German. */
export const de: Readonly<Record<EndMailText, string>> = {
  expiringSubject: 'Ihre Lizenz für {product} läuft am {date} ab',
  expiring: 'Ihre Lizenz für {product} ({plan}) läuft am {date} ab.',
  grace: 'Danach funktioniert sie noch bis {until}.',
  expiredSubject: 'Ihre Lizenz für {product} ist abgelaufen',
  expired: 'Ihre Lizenz für {product} ({plan}) ist am {date} abgelaufen und kann nicht mehr genutzt werden.',
  fellBackSubject: 'Die Laufzeit Ihrer Lizenz für {product} ist beendet',
  fellBack:
    'Die Laufzeit Ihrer Lizenz für {product} ({plan}) endete am {date}. Sie können sie mit weniger Funktionen weiter nutzen.',
  renewalFailedSubject: 'Die Zahlung für die Verlängerung Ihrer Lizenz für {product} ist fehlgeschlagen',
  renewalFailed: 'Die Zahlung für die Verlängerung Ihrer Lizenz für {product} ({plan}) ist fehlgeschlagen.',
  retry: 'Die Zahlung wird am {retry} noch einmal versucht.',
  works: 'Ihre Lizenz funktioniert bis {until}.',
  usageSubject: '{percent} % von {meter} Ihrer Lizenz für {product} sind verbraucht',
  usage:
    'Ihre Lizenz für {product} ({plan}) hat {used} {unit} von {meter} verbraucht: {percent} % von dem, was sie hat. {remaining} {unit} bleiben.',
  resets: 'Die Zählung beginnt am {resets} von vorn.',
  more: 'Wenn Sie mehr brauchen, antworten Sie auf diese E-Mail.',
  key: 'Lizenzschlüssel',
  pay: 'Bitte prüfen Sie das Zahlungsmittel Ihres Abonnements. Bei Fragen antworten Sie auf diese E-Mail.',
  renew: 'Wenn Sie sie verlängern möchten, antworten Sie auf diese E-Mail.',
}
