-- What a passage says about the currency and the period of a price. A reading that contradicts it is not published.
-- Signs, codes and words are closed lists. A passage that has none of them contradicts nothing.

create or replace function reading.currencies_in(passage text) returns text[]
  language plpgsql immutable
as $$
begin
  return (
    select array_agg(distinct found.currency)
    from (
      select unnest(w.currencies) as currency
      from regexp_matches(reading.fold(passage), '[a-z]+|[^a-z0-9[:space:]]', 'g') as said (word)
      join (values
        ('{€,eur,euro,euros}'::text[], '{EUR}'::text[]),
        ('{£,gbp,quid,pound,pounds,sterling}', '{GBP,EGP,FKP,GIP,SHP}'),
        -- Dollars and pesos.
        ('{$,dollar,dollars,bucks,dolares,peso,pesos}',
          '{USD,CAD,AUD,NZD,SGD,HKD,TWD,MXN,ARS,CLP,COP,UYU,DOP,CUP,PHP,BRL,BBD,BSD,BZD,BMD,BND,FJD,GYD,JMD,KYD,LRD}'),
        ('{$}', '{NAD,NIO,SRD,TTD,XCD,TOP,WST,CVE}'), ('{reais}', '{BRL}'), ('{zl,pln,zloty,zlotych,zlote}', '{PLN}'),
        ('{chf,sfr,franken,stutz}', '{CHF}'), ('{kr,kronor,kroner,kronur}', '{SEK,NOK,DKK,ISK}'), ('{kc,kcs}', '{CZK}'),
        ('{¥,円,元}', '{JPY,CNY}'), ('{₹}', '{INR}'), ('{₺}', '{TRY}'), ('{₽}', '{RUB}'), ('{₴}', '{UAH}'),
        ('{₪}', '{ILS}'), ('{₩}', '{KRW}'), ('{₫}', '{VND}'), ('{₱}', '{PHP}'), ('{฿}', '{THB}'), ('{₦}', '{NGN}'),
        ('{₡}', '{CRC}'), ('{₲}', '{PYG}'), ('{₵}', '{GHS}'), ('{₸}', '{KZT}'), ('{₾}', '{GEL}'), ('{₼}', '{AZN}')
      ) as w (words, currencies) on said.word[1] = any (w.words)
      union all
      -- A code of ISO 4217 counts only beside a number, because "TOP" and "ALL" are words too.
      select coalesce(code.beside[1], code.beside[2])
      from regexp_matches(passage, '[0-9][,.-]{0,3} ?([A-Z]{3})(?![A-Za-z])|(?<![A-Za-z])([A-Z]{3}) ?[0-9]', 'g')
        as code (beside)
      where coalesce(code.beside[1], code.beside[2]) ~ (
        '^(?:AED|AFN|ALL|AMD|ANG|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|'
        || 'CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GIP|GMD|'
        || 'GNF|GTQ|GYD|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|'
        || 'LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MXN|MYR|MZN|NAD|NGN|NIO|NOK|NPR|'
        || 'NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|'
        || 'STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|'
        || 'XOF|XPF|YER|ZAR|ZMW|ZWG)$')
    ) as found);
end
$$;
comment on function reading.currencies_in(text) is
  'Returns the currencies (ISO 4217) that the signs, codes and words of a passage can mean; null when it names none.';

create or replace function reading.periods_in(passage text) returns text[]
  language plpgsql immutable
as $$
begin
  return (
    select array_agg(w.period)
    from (values
        ('hour', 'hourly stundlich',
          'h hr hrs hour hours std stunde stunden heure heures horaire hora horas ora ore uur uren '
          'godz godzina godzine godziny'),
        ('day', 'daily nightly taglich',
          'd day days night nights tag tage tagen nacht nachte jour jours journee nuit nuits nuitee '
          'dia dias diaria diario noche noches noite noites giorno giorni notte notti dag dagen doba '
          'dobe doby dzien dni noc'),
        ('week', 'weekly pw wochentlich semanal settimanale tygodniowo',
          'wk week weeks woche wochen semaine semaines semana semanas settimana settimane weken '
          'tydzien tygodnie'),
        ('month', 'monthly pcm monatlich mtl mensuel mensuels mensuelle mensual mensuales mensile mensili '
          'mensal mensais maandelijks miesiecznie',
          'mo mth month months monat monate mois mes meses mese mesi maand maanden mnd miesiac '
          'miesiace mies mc'),
        ('year', 'yearly annual annually jahrlich annuel annuelle anual annuo annuale jaarlijks rocznie',
          'yr year years jahr jahre an ans annee ano anos anno anni jaar rok roku')
      ) as w (period, adverbs, units)
    -- A unit counts after a slash or a word such as "per", because "for two weeks" says nothing about the price.
    where reading.fold(passage) ~ ('(^|[^a-z])(' || replace(w.adverbs, ' ', '|') || ')([^a-z]|$)')
      or reading.fold(passage) ~ (
        '(/ ?|(^|[^a-z])(per|pro|par|por|a|an|al|alla|all|the|la|le|je|na|za|each|every|l)[ ''’])('
        || replace(w.units, ' ', '|') || ')([^a-z]|$)'));
end
$$;
comment on function reading.periods_in(text) is
  'Returns the periods (hour, day, week, month, year) that a passage names after an amount; null when it names none.';
