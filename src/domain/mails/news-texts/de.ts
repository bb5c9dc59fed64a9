// cspell:disable -- German
import type { NewsMailText } from './en.ts'

/** Every text of the mails that tell what is new about a license, in German. */
export const de: Readonly<Record<NewsMailText, string>> = {
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
  newDeviceSubject: 'Ein neues Gerät nutzt Ihre Lizenz für {product}',
  newDevice: 'Das Gerät „{device}“ wurde am {date} zu Ihrer Lizenz für {product} ({plan}) hinzugefügt.',
  remove: 'Wenn Sie es nicht kennen, entfernen Sie es und antworten Sie auf diese E-Mail.',
  seatsFullSubject: 'Alle Plätze Ihrer Lizenz für {product} sind belegt',
  seatsFull:
    'Alle {seats} Plätze Ihrer Lizenz für {product} ({plan}) sind belegt. Ein weiteres Gerät kann sie nicht nutzen.',
  free: 'Um sie auf einem anderen Gerät zu nutzen, entfernen Sie eines, das Sie nicht mehr brauchen. Wenn Sie mehr Plätze brauchen, antworten Sie auf diese E-Mail.',
  seatGivenSubject: 'Sie haben einen Platz für {product}',
  seatGiven: 'Sie haben einen Platz für {product} ({plan}) erhalten.',
  signIn: 'Melden Sie sich mit dieser E-Mail-Adresse an, um Ihren Lizenzschlüssel zu lesen.',
  key: 'Lizenzschlüssel',
  pay: 'Bitte prüfen Sie das Zahlungsmittel Ihres Abonnements. Bei Fragen antworten Sie auf diese E-Mail.',
  renew: 'Wenn Sie sie verlängern möchten, antworten Sie auf diese E-Mail.',
}
