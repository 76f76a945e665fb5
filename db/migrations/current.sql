set local role souk_owner;

-- A name may lead to the city it belongs to: a district, a name in another language.
alter table market.vocabulary drop constraint vocabulary_sense_form;
alter table market.vocabulary add constraint vocabulary_sense_form check (
  sense ~ '^(category:[a-z_]+/[a-z_]+|(domain|kind|ask_kind|condition|feature):[a-z_]+|(place|region|country):[A-Z]{2}|city:[A-Z]{2}/[^/:]+)$');

comment on table market.vocabulary is
  'What words say to the built-in reader, one row a term and sense. Senses: category:DOMAIN/CATEGORY and domain:DOMAIN (the thing it names), kind:OFFER_KIND, ask_kind:ASK_KIND (what is wanted), condition:CONDITION, feature:NAME (the words themselves are the feature), place:XX, region:XX and country:XX (a city, a part of a country, a country, by ISO 3166-1 code), city:XX/NAME (the city that a district, a metropolitan area or a name in another language belongs to). A word may have several senses. Changes hold from the next start of the worker.';

-- Vocabulary: begin
-- The vocabulary of this version. What an operator has changed stays as it is.

delete from market.vocabulary v using (values
  ('brooklyn', null, 'place:US', 3),
  ('queens', null, 'place:US', 3),
  ('manhattan', null, 'place:US', 3),
  ('bronx', null, 'place:US', 3),
  ('croydon', null, 'place:GB', 3),
  ('twickenham', null, 'place:GB', 3),
  ('walthamstow', null, 'place:GB', 3),
  ('hackney', null, 'place:GB', 3),
  ('peckham', null, 'place:GB', 3),
  ('brixton', null, 'place:GB', 3),
  ('tottenham', null, 'place:GB', 3),
  ('etobicoke', null, 'place:CA', 3),
  ('kreuzberg', null, 'place:DE', 3),
  ('neukolln', null, 'place:DE', 3),
  ('ixelles', null, 'place:BE', 3),
  ('schaerbeek', null, 'place:BE', 3),
  ('palermo soho', null, 'place:AR', 3),
  ('mokotow', null, 'place:PL', 3),
  ('norrebro', null, 'place:DK', 3),
  ('vesterbro', null, 'place:DK', 3),
  ('frederiksberg', null, 'place:DK', 3)
) as g (term, language, sense, weight)
where (v.term, v.sense, v.weight) = (g.term, g.sense, g.weight::real) and v.language is not distinct from g.language;

insert into market.vocabulary (term, language, sense, weight) values
  ('peckham', null, 'city:GB/London', 3),
  ('brixton', null, 'city:GB/London', 3),
  ('hackney', null, 'city:GB/London', 3),
  ('camden', null, 'city:GB/London', 3),
  ('camden town', null, 'city:GB/London', 3),
  ('islington', null, 'city:GB/London', 3),
  ('clapham', null, 'city:GB/London', 3),
  ('balham', null, 'city:GB/London', 3),
  ('tooting', null, 'city:GB/London', 3),
  ('streatham', null, 'city:GB/London', 3),
  ('lewisham', null, 'city:GB/London', 3),
  ('greenwich se10', null, 'city:GB/London', 3),
  ('deptford', null, 'city:GB/London', 3),
  ('new cross', null, 'city:GB/London', 3),
  ('bermondsey', null, 'city:GB/London', 3),
  ('rotherhithe', null, 'city:GB/London', 3),
  ('shoreditch', null, 'city:GB/London', 3),
  ('dalston', null, 'city:GB/London', 3),
  ('hoxton', null, 'city:GB/London', 3),
  ('bethnal green', null, 'city:GB/London', 3),
  ('stoke newington', null, 'city:GB/London', 3),
  ('walthamstow', null, 'city:GB/London', 3),
  ('leyton', null, 'city:GB/London', 3),
  ('leytonstone', null, 'city:GB/London', 3),
  ('stratford e15', null, 'city:GB/London', 3),
  ('canary wharf', null, 'city:GB/London', 3),
  ('isle of dogs', null, 'city:GB/London', 3),
  ('poplar', null, 'city:GB/London', 3),
  ('wapping', null, 'city:GB/London', 3),
  ('whitechapel', null, 'city:GB/London', 3),
  ('mile end', null, 'city:GB/London', 3),
  ('tower hamlets', null, 'city:GB/London', 3),
  ('finsbury park', null, 'city:GB/London', 3),
  ('crouch end', null, 'city:GB/London', 3),
  ('muswell hill', null, 'city:GB/London', 3),
  ('tottenham', null, 'city:GB/London', 3),
  ('wood green', null, 'city:GB/London', 3),
  ('highgate', null, 'city:GB/London', 3),
  ('hampstead', null, 'city:GB/London', 3),
  ('kentish town', null, 'city:GB/London', 3),
  ('kilburn', null, 'city:GB/London', 3),
  ('willesden', null, 'city:GB/London', 3),
  ('wembley', null, 'city:GB/London', 3),
  ('harrow', null, 'city:GB/London', 3),
  ('ealing', null, 'city:GB/London', 3),
  ('acton', null, 'city:GB/London', 3),
  ('chiswick', null, 'city:GB/London', 3),
  ('hammersmith', null, 'city:GB/London', 3),
  ('fulham', null, 'city:GB/London', 3),
  ('shepherds bush', null, 'city:GB/London', 3),
  ('notting hill', null, 'city:GB/London', 3),
  ('kensington', null, 'city:GB/London', 3),
  ('earls court', null, 'city:GB/London', 3),
  ('battersea', null, 'city:GB/London', 3),
  ('wandsworth', null, 'city:GB/London', 3),
  ('putney', null, 'city:GB/London', 3),
  ('wimbledon', null, 'city:GB/London', 3),
  ('vauxhall', null, 'city:GB/London', 3),
  ('stockwell', null, 'city:GB/London', 3),
  ('kennington', null, 'city:GB/London', 3),
  ('elephant and castle', null, 'city:GB/London', 3),
  ('southwark', null, 'city:GB/London', 3),
  ('camberwell', null, 'city:GB/London', 3),
  ('dulwich', null, 'city:GB/London', 3),
  ('east dulwich', null, 'city:GB/London', 3),
  ('herne hill', null, 'city:GB/London', 3),
  ('west norwood', null, 'city:GB/London', 3),
  ('crystal palace', null, 'city:GB/London', 3),
  ('sydenham', null, 'city:GB/London', 3),
  ('forest hill', null, 'city:GB/London', 3),
  ('catford', null, 'city:GB/London', 3),
  ('brockley', null, 'city:GB/London', 3),
  ('eltham', null, 'city:GB/London', 3),
  ('woolwich', null, 'city:GB/London', 3),
  ('croydon', null, 'city:GB/London', 3),
  ('bromley', null, 'city:GB/London', 3),
  ('sutton surrey', null, 'city:GB/London', 3),
  ('kingston upon thames', null, 'city:GB/London', 3),
  ('twickenham', null, 'city:GB/London', 3),
  ('hounslow', null, 'city:GB/London', 3),
  ('uxbridge', null, 'city:GB/London', 3),
  ('ilford', null, 'city:GB/London', 3),
  ('romford', null, 'city:GB/London', 3),
  ('barnet', null, 'city:GB/London', 3),
  ('finchley', null, 'city:GB/London', 3),
  ('golders green', null, 'city:GB/London', 3),
  ('hendon', null, 'city:GB/London', 3),
  ('enfield', null, 'city:GB/London', 3),
  ('edmonton green', null, 'city:GB/London', 3),
  ('haringey', null, 'city:GB/London', 3),
  ('surbiton', null, 'city:GB/London', 3),
  ('tulse hill', null, 'city:GB/London', 3),
  ('nunhead', null, 'city:GB/London', 3),
  ('honor oak', null, 'city:GB/London', 3),
  ('maida vale', null, 'city:GB/London', 3),
  ('marylebone', null, 'city:GB/London', 3),
  ('mayfair', null, 'city:GB/London', 3),
  ('soho london', null, 'city:GB/London', 3),
  ('covent garden', null, 'city:GB/London', 3),
  ('clerkenwell', null, 'city:GB/London', 3),
  ('bloomsbury', null, 'city:GB/London', 3),
  ('kings cross london', null, 'city:GB/London', 3),
  ('pimlico', null, 'city:GB/London', 3),
  ('south london', null, 'city:GB/London', 3),
  ('north london', null, 'city:GB/London', 3),
  ('east london', null, 'city:GB/London', 3),
  ('west london', null, 'city:GB/London', 3),
  ('se london', null, 'city:GB/London', 3),
  ('sw london', null, 'city:GB/London', 3),
  ('nw london', null, 'city:GB/London', 3),
  ('greater london', null, 'city:GB/London', 3),
  ('central london', null, 'city:GB/London', 3),
  ('docklands london', null, 'city:GB/London', 3),
  ('greenwich', null, 'city:GB/London', 1),
  ('chelsea', null, 'city:GB/London', 1),
  ('archway', null, 'city:GB/London', 1),
  ('richmond upon thames', null, 'city:GB/London', 1),
  ('chorlton', null, 'city:GB/Manchester', 3),
  ('didsbury', null, 'city:GB/Manchester', 3),
  ('withington', null, 'city:GB/Manchester', 3),
  ('fallowfield', null, 'city:GB/Manchester', 3),
  ('levenshulme', null, 'city:GB/Manchester', 3),
  ('ancoats', null, 'city:GB/Manchester', 3),
  ('hulme', null, 'city:GB/Manchester', 3),
  ('rusholme', null, 'city:GB/Manchester', 3),
  ('whalley range', null, 'city:GB/Manchester', 3),
  ('burnage', null, 'city:GB/Manchester', 3),
  ('northern quarter', null, 'city:GB/Manchester', 3),
  ('castlefield', null, 'city:GB/Manchester', 3),
  ('moss side', null, 'city:GB/Manchester', 3),
  ('cheetham hill', null, 'city:GB/Manchester', 3),
  ('wythenshawe', null, 'city:GB/Manchester', 3),
  ('greater manchester', null, 'city:GB/Manchester', 3),
  ('south manchester', null, 'city:GB/Manchester', 3),
  ('north manchester', null, 'city:GB/Manchester', 3),
  ('gorton', null, 'city:GB/Manchester', 3),
  ('chorlton cum hardy', null, 'city:GB/Manchester', 3),
  ('prestwich', null, 'city:GB/Manchester', 3),
  ('urmston', null, 'city:GB/Manchester', 3),
  ('edgbaston', null, 'city:GB/Birmingham', 3),
  ('moseley', null, 'city:GB/Birmingham', 3),
  ('kings heath', null, 'city:GB/Birmingham', 3),
  ('digbeth', null, 'city:GB/Birmingham', 3),
  ('erdington', null, 'city:GB/Birmingham', 3),
  ('harborne', null, 'city:GB/Birmingham', 3),
  ('selly oak', null, 'city:GB/Birmingham', 3),
  ('handsworth', null, 'city:GB/Birmingham', 3),
  ('sutton coldfield', null, 'city:GB/Birmingham', 3),
  ('jewellery quarter', null, 'city:GB/Birmingham', 3),
  ('bournville', null, 'city:GB/Birmingham', 3),
  ('stirchley', null, 'city:GB/Birmingham', 3),
  ('headingley', null, 'city:GB/Leeds', 3),
  ('chapel allerton', null, 'city:GB/Leeds', 3),
  ('hyde park leeds', null, 'city:GB/Leeds', 3),
  ('meanwood', null, 'city:GB/Leeds', 3),
  ('roundhay', null, 'city:GB/Leeds', 3),
  ('horsforth', null, 'city:GB/Leeds', 3),
  ('kirkstall', null, 'city:GB/Leeds', 3),
  ('armley', null, 'city:GB/Leeds', 3),
  ('harehills', null, 'city:GB/Leeds', 3),
  ('bedminster', null, 'city:GB/Bristol', 3),
  ('southville', null, 'city:GB/Bristol', 3),
  ('st werburghs', null, 'city:GB/Bristol', 3),
  ('easton bristol', null, 'city:GB/Bristol', 3),
  ('montpelier bristol', null, 'city:GB/Bristol', 3),
  ('stokes croft', null, 'city:GB/Bristol', 3),
  ('totterdown', null, 'city:GB/Bristol', 3),
  ('bishopston', null, 'city:GB/Bristol', 3),
  ('clifton bristol', null, 'city:GB/Bristol', 3),
  ('redland bristol', null, 'city:GB/Bristol', 3),
  ('fishponds', null, 'city:GB/Bristol', 3),
  ('horfield', null, 'city:GB/Bristol', 3),
  ('brislington', null, 'city:GB/Bristol', 3),
  ('knowle west', null, 'city:GB/Bristol', 3),
  ('ecclesall', null, 'city:GB/Sheffield', 3),
  ('hillsborough sheffield', null, 'city:GB/Sheffield', 3),
  ('walkley', null, 'city:GB/Sheffield', 3),
  ('crookes', null, 'city:GB/Sheffield', 3),
  ('kelham island', null, 'city:GB/Sheffield', 3),
  ('nether edge', null, 'city:GB/Sheffield', 3),
  ('heeley', null, 'city:GB/Sheffield', 3),
  ('toxteth', null, 'city:GB/Liverpool', 3),
  ('wavertree', null, 'city:GB/Liverpool', 3),
  ('allerton', null, 'city:GB/Liverpool', 3),
  ('aigburth', null, 'city:GB/Liverpool', 3),
  ('bootle', null, 'city:GB/Liverpool', 3),
  ('anfield', null, 'city:GB/Liverpool', 3),
  ('sefton park', null, 'city:GB/Liverpool', 3),
  ('merseyside', null, 'city:GB/Liverpool', 3),
  ('jesmond', null, 'city:GB/Newcastle', 3),
  ('heaton newcastle', null, 'city:GB/Newcastle', 3),
  ('gosforth', null, 'city:GB/Newcastle', 3),
  ('byker', null, 'city:GB/Newcastle', 3),
  ('ouseburn', null, 'city:GB/Newcastle', 3),
  ('fenham', null, 'city:GB/Newcastle', 3),
  ('tyneside', null, 'city:GB/Newcastle', 3),
  ('leith', null, 'city:GB/Edinburgh', 3),
  ('portobello edinburgh', null, 'city:GB/Edinburgh', 3),
  ('morningside', null, 'city:GB/Edinburgh', 3),
  ('marchmont', null, 'city:GB/Edinburgh', 3),
  ('bruntsfield', null, 'city:GB/Edinburgh', 3),
  ('stockbridge edinburgh', null, 'city:GB/Edinburgh', 3),
  ('gorgie', null, 'city:GB/Edinburgh', 3),
  ('newington edinburgh', null, 'city:GB/Edinburgh', 3),
  ('corstorphine', null, 'city:GB/Edinburgh', 3),
  ('tollcross', null, 'city:GB/Edinburgh', 3),
  ('dennistoun', null, 'city:GB/Glasgow', 3),
  ('partick', null, 'city:GB/Glasgow', 3),
  ('govanhill', null, 'city:GB/Glasgow', 3),
  ('shawlands', null, 'city:GB/Glasgow', 3),
  ('glasgow west end', null, 'city:GB/Glasgow', 3),
  ('finnieston', null, 'city:GB/Glasgow', 3),
  ('hillhead', null, 'city:GB/Glasgow', 3),
  ('maryhill', null, 'city:GB/Glasgow', 3),
  ('govan', null, 'city:GB/Glasgow', 3),
  ('merchant city', null, 'city:GB/Glasgow', 3),
  ('kelvinbridge', null, 'city:GB/Glasgow', 3),
  ('roath', null, 'city:GB/Cardiff', 3),
  ('canton cardiff', null, 'city:GB/Cardiff', 3),
  ('pontcanna', null, 'city:GB/Cardiff', 3),
  ('splott', null, 'city:GB/Cardiff', 3),
  ('cathays', null, 'city:GB/Cardiff', 3),
  ('llandaff', null, 'city:GB/Cardiff', 3),
  ('grangetown cardiff', null, 'city:GB/Cardiff', 3),
  ('sherwood nottingham', null, 'city:GB/Nottingham', 3),
  ('lenton', null, 'city:GB/Nottingham', 3),
  ('beeston notts', null, 'city:GB/Nottingham', 3),
  ('hockley nottingham', null, 'city:GB/Nottingham', 3),
  ('west bridgford', null, 'city:GB/Nottingham', 3),
  ('kemptown', null, 'city:GB/Brighton', 3),
  ('kemp town', null, 'city:GB/Brighton', 3),
  ('hanover brighton', null, 'city:GB/Brighton', 3),
  ('preston park', null, 'city:GB/Brighton', 3),
  ('ormeau', null, 'city:GB/Belfast', 3),
  ('stranmillis', null, 'city:GB/Belfast', 3),
  ('titanic quarter', null, 'city:GB/Belfast', 3),
  ('rathmines', null, 'city:IE/Dublin', 3),
  ('ranelagh', null, 'city:IE/Dublin', 3),
  ('stoneybatter', null, 'city:IE/Dublin', 3),
  ('phibsborough', null, 'city:IE/Dublin', 3),
  ('drumcondra', null, 'city:IE/Dublin', 3),
  ('clontarf', null, 'city:IE/Dublin', 3),
  ('smithfield dublin', null, 'city:IE/Dublin', 3),
  ('dun laoghaire', null, 'city:IE/Dublin', 3),
  ('tallaght', null, 'city:IE/Dublin', 3),
  ('blanchardstown', null, 'city:IE/Dublin', 3),
  ('ringsend', null, 'city:IE/Dublin', 3),
  ('portobello dublin', null, 'city:IE/Dublin', 3),
  ('harolds cross', null, 'city:IE/Dublin', 3),
  ('glasnevin', null, 'city:IE/Dublin', 3),
  ('ballsbridge', null, 'city:IE/Dublin', 3),
  ('terenure', null, 'city:IE/Dublin', 3),
  ('howth', null, 'city:IE/Dublin', 3),
  ('malahide', null, 'city:IE/Dublin', 3),
  ('lucan dublin', null, 'city:IE/Dublin', 3),
  ('inchicore', null, 'city:IE/Dublin', 3),
  ('kilmainham', null, 'city:IE/Dublin', 3),
  ('the liberties', null, 'city:IE/Dublin', 3),
  ('douglas cork', null, 'city:IE/Cork', 3),
  ('blackpool cork', null, 'city:IE/Cork', 3),
  ('ballincollig', null, 'city:IE/Cork', 3),
  ('brooklyn', null, 'city:US/New York', 3),
  ('manhattan', null, 'city:US/New York', 3),
  ('queens', null, 'city:US/New York', 3),
  ('the bronx', null, 'city:US/New York', 3),
  ('bronx', null, 'city:US/New York', 3),
  ('staten island', null, 'city:US/New York', 3),
  ('williamsburg brooklyn', null, 'city:US/New York', 3),
  ('bushwick', null, 'city:US/New York', 3),
  ('bed stuy', null, 'city:US/New York', 3),
  ('park slope', null, 'city:US/New York', 3),
  ('greenpoint', null, 'city:US/New York', 3),
  ('crown heights', null, 'city:US/New York', 3),
  ('harlem', null, 'city:US/New York', 3),
  ('astoria', null, 'city:US/New York', 3),
  ('upper west side', null, 'city:US/New York', 3),
  ('upper east side', null, 'city:US/New York', 3),
  ('lower east side', null, 'city:US/New York', 3),
  ('east village', null, 'city:US/New York', 3),
  ('greenwich village', null, 'city:US/New York', 3),
  ('west village', null, 'city:US/New York', 3),
  ('tribeca', null, 'city:US/New York', 3),
  ('flatbush', null, 'city:US/New York', 3),
  ('ridgewood queens', null, 'city:US/New York', 3),
  ('jackson heights', null, 'city:US/New York', 3),
  ('long island city', null, 'city:US/New York', 3),
  ('nyc', null, 'city:US/New York', 3),
  ('new york city', null, 'city:US/New York', 3),
  ('fort greene', null, 'city:US/New York', 3),
  ('prospect heights', null, 'city:US/New York', 3),
  ('washington heights', null, 'city:US/New York', 3),
  ('chinatown nyc', null, 'city:US/New York', 3),
  ('red hook brooklyn', null, 'city:US/New York', 3),
  ('sunset park', null, 'city:US/New York', 3),
  ('silver lake', null, 'city:US/Los Angeles', 3),
  ('silverlake', null, 'city:US/Los Angeles', 3),
  ('echo park', null, 'city:US/Los Angeles', 3),
  ('venice beach', null, 'city:US/Los Angeles', 3),
  ('koreatown', null, 'city:US/Los Angeles', 3),
  ('highland park la', null, 'city:US/Los Angeles', 3),
  ('los feliz', null, 'city:US/Los Angeles', 3),
  ('north hollywood', null, 'city:US/Los Angeles', 3),
  ('hollywood', null, 'city:US/Los Angeles', 3),
  ('studio city', null, 'city:US/Los Angeles', 3),
  ('sherman oaks', null, 'city:US/Los Angeles', 3),
  ('van nuys', null, 'city:US/Los Angeles', 3),
  ('eagle rock', null, 'city:US/Los Angeles', 3),
  ('culver city', null, 'city:US/Los Angeles', 3),
  ('encino', null, 'city:US/Los Angeles', 3),
  ('boyle heights', null, 'city:US/Los Angeles', 3),
  ('west hollywood', null, 'city:US/Los Angeles', 3),
  ('dtla', null, 'city:US/Los Angeles', 3),
  ('mission district', null, 'city:US/San Francisco', 3),
  ('the mission sf', null, 'city:US/San Francisco', 3),
  ('soma sf', null, 'city:US/San Francisco', 3),
  ('noe valley', null, 'city:US/San Francisco', 3),
  ('haight ashbury', null, 'city:US/San Francisco', 3),
  ('outer sunset', null, 'city:US/San Francisco', 3),
  ('inner sunset', null, 'city:US/San Francisco', 3),
  ('outer richmond', null, 'city:US/San Francisco', 3),
  ('inner richmond', null, 'city:US/San Francisco', 3),
  ('bernal heights', null, 'city:US/San Francisco', 3),
  ('potrero hill', null, 'city:US/San Francisco', 3),
  ('castro district', null, 'city:US/San Francisco', 3),
  ('sf bay area', null, 'city:US/San Francisco', 3),
  ('bay area', null, 'city:US/San Francisco', 3),
  ('tenderloin', null, 'city:US/San Francisco', 3),
  ('wicker park', null, 'city:US/Chicago', 3),
  ('logan square', null, 'city:US/Chicago', 3),
  ('lincoln park chicago', null, 'city:US/Chicago', 3),
  ('lakeview chicago', null, 'city:US/Chicago', 3),
  ('rogers park', null, 'city:US/Chicago', 3),
  ('hyde park chicago', null, 'city:US/Chicago', 3),
  ('pilsen chicago', null, 'city:US/Chicago', 3),
  ('avondale chicago', null, 'city:US/Chicago', 3),
  ('edgewater chicago', null, 'city:US/Chicago', 3),
  ('ravenswood', null, 'city:US/Chicago', 3),
  ('uptown chicago', null, 'city:US/Chicago', 3),
  ('bridgeport chicago', null, 'city:US/Chicago', 3),
  ('lincoln square', null, 'city:US/Chicago', 3),
  ('humboldt park', null, 'city:US/Chicago', 3),
  ('andersonville', null, 'city:US/Chicago', 3),
  ('oak park il', null, 'city:US/Chicago', 3),
  ('chicagoland', null, 'city:US/Chicago', 3),
  ('bucktown', null, 'city:US/Chicago', 3),
  ('ukrainian village', null, 'city:US/Chicago', 3),
  ('ballard', null, 'city:US/Seattle', 3),
  ('capitol hill seattle', null, 'city:US/Seattle', 3),
  ('fremont seattle', null, 'city:US/Seattle', 3),
  ('west seattle', null, 'city:US/Seattle', 3),
  ('wallingford seattle', null, 'city:US/Seattle', 3),
  ('greenwood seattle', null, 'city:US/Seattle', 3),
  ('beacon hill seattle', null, 'city:US/Seattle', 3),
  ('columbia city', null, 'city:US/Seattle', 3),
  ('queen anne seattle', null, 'city:US/Seattle', 3),
  ('georgetown seattle', null, 'city:US/Seattle', 3),
  ('se portland', null, 'city:US/Portland', 3),
  ('ne portland', null, 'city:US/Portland', 3),
  ('north portland', null, 'city:US/Portland', 3),
  ('nw portland', null, 'city:US/Portland', 3),
  ('sw portland', null, 'city:US/Portland', 3),
  ('sellwood', null, 'city:US/Portland', 3),
  ('hawthorne district', null, 'city:US/Portland', 3),
  ('alberta arts district', null, 'city:US/Portland', 3),
  ('st johns portland', null, 'city:US/Portland', 3),
  ('laurelhurst', null, 'city:US/Portland', 3),
  ('zilker', null, 'city:US/Austin', 3),
  ('east austin', null, 'city:US/Austin', 3),
  ('south austin', null, 'city:US/Austin', 3),
  ('north austin', null, 'city:US/Austin', 3),
  ('mueller austin', null, 'city:US/Austin', 3),
  ('hyde park austin', null, 'city:US/Austin', 3),
  ('barton hills', null, 'city:US/Austin', 3),
  ('jamaica plain', null, 'city:US/Boston', 3),
  ('dorchester boston', null, 'city:US/Boston', 3),
  ('allston', null, 'city:US/Boston', 3),
  ('back bay', null, 'city:US/Boston', 3),
  ('roxbury', null, 'city:US/Boston', 3),
  ('south boston', null, 'city:US/Boston', 3),
  ('beacon hill boston', null, 'city:US/Boston', 3),
  ('charlestown boston', null, 'city:US/Boston', 3),
  ('north end boston', null, 'city:US/Boston', 3),
  ('fishtown', null, 'city:US/Philadelphia', 3),
  ('south philly', null, 'city:US/Philadelphia', 3),
  ('west philly', null, 'city:US/Philadelphia', 3),
  ('kensington philadelphia', null, 'city:US/Philadelphia', 3),
  ('manayunk', null, 'city:US/Philadelphia', 3),
  ('philly', null, 'city:US/Philadelphia', 3),
  ('northern liberties', null, 'city:US/Philadelphia', 3),
  ('adams morgan', null, 'city:US/Washington', 3),
  ('dupont circle', null, 'city:US/Washington', 3),
  ('capitol hill dc', null, 'city:US/Washington', 3),
  ('columbia heights', null, 'city:US/Washington', 3),
  ('georgetown dc', null, 'city:US/Washington', 3),
  ('washington dc', null, 'city:US/Washington', 3),
  ('petworth', null, 'city:US/Washington', 3),
  ('uptown minneapolis', null, 'city:US/Minneapolis', 3),
  ('northeast minneapolis', null, 'city:US/Minneapolis', 3),
  ('powderhorn', null, 'city:US/Minneapolis', 3),
  ('twin cities', null, 'city:US/Minneapolis', 3),
  ('capitol hill denver', null, 'city:US/Denver', 3),
  ('five points denver', null, 'city:US/Denver', 3),
  ('rino denver', null, 'city:US/Denver', 3),
  ('highlands denver', null, 'city:US/Denver', 3),
  ('bywater', null, 'city:US/New Orleans', 3),
  ('marigny', null, 'city:US/New Orleans', 3),
  ('treme', null, 'city:US/New Orleans', 3),
  ('french quarter', null, 'city:US/New Orleans', 3),
  ('uptown new orleans', null, 'city:US/New Orleans', 3),
  ('little five points', null, 'city:US/Atlanta', 3),
  ('inman park', null, 'city:US/Atlanta', 3),
  ('buckhead', null, 'city:US/Atlanta', 3),
  ('east atlanta', null, 'city:US/Atlanta', 3),
  ('old fourth ward', null, 'city:US/Atlanta', 3),
  ('north park san diego', null, 'city:US/San Diego', 3),
  ('ocean beach san diego', null, 'city:US/San Diego', 3),
  ('hillcrest san diego', null, 'city:US/San Diego', 3),
  ('pacific beach', null, 'city:US/San Diego', 3),
  ('oak cliff', null, 'city:US/Dallas', 3),
  ('deep ellum', null, 'city:US/Dallas', 3),
  ('dfw', null, 'city:US/Dallas', 3),
  ('houston heights', null, 'city:US/Houston', 3),
  ('montrose houston', null, 'city:US/Houston', 3),
  ('midtown houston', null, 'city:US/Houston', 3),
  ('little havana', null, 'city:US/Miami', 3),
  ('wynwood', null, 'city:US/Miami', 3),
  ('miami beach', null, 'city:US/Miami', 3),
  ('coconut grove', null, 'city:US/Miami', 3),
  ('brickell', null, 'city:US/Miami', 3),
  ('corktown', null, 'city:US/Detroit', 3),
  ('hamtramck', null, 'city:US/Detroit', 3),
  ('midtown detroit', null, 'city:US/Detroit', 3),
  ('squirrel hill', null, 'city:US/Pittsburgh', 3),
  ('lawrenceville pittsburgh', null, 'city:US/Pittsburgh', 3),
  ('shadyside', null, 'city:US/Pittsburgh', 3),
  ('bloomfield pittsburgh', null, 'city:US/Pittsburgh', 3),
  ('temescal', null, 'city:US/Oakland', 3),
  ('lake merritt', null, 'city:US/Oakland', 3),
  ('rockridge', null, 'city:US/Oakland', 3),
  ('scarborough toronto', null, 'city:CA/Toronto', 3),
  ('etobicoke', null, 'city:CA/Toronto', 3),
  ('north york', null, 'city:CA/Toronto', 3),
  ('leslieville', null, 'city:CA/Toronto', 3),
  ('parkdale', null, 'city:CA/Toronto', 3),
  ('kensington market', null, 'city:CA/Toronto', 3),
  ('the annex', null, 'city:CA/Toronto', 3),
  ('liberty village', null, 'city:CA/Toronto', 3),
  ('cabbagetown', null, 'city:CA/Toronto', 3),
  ('gta', null, 'city:CA/Toronto', 3),
  ('the beaches toronto', null, 'city:CA/Toronto', 3),
  ('roncesvalles', null, 'city:CA/Toronto', 3),
  ('east york', null, 'city:CA/Toronto', 3),
  ('the danforth', null, 'city:CA/Toronto', 3),
  ('high park', null, 'city:CA/Toronto', 3),
  ('yonge and eglinton', null, 'city:CA/Toronto', 3),
  ('dufferin', null, 'city:CA/Toronto', 3),
  ('plateau mont royal', null, 'city:CA/Montreal', 3),
  ('mile end montreal', null, 'city:CA/Montreal', 3),
  ('rosemont montreal', null, 'city:CA/Montreal', 3),
  ('verdun montreal', null, 'city:CA/Montreal', 3),
  ('villeray', null, 'city:CA/Montreal', 3),
  ('hochelaga', null, 'city:CA/Montreal', 3),
  ('le plateau', null, 'city:CA/Montreal', 3),
  ('outremont', null, 'city:CA/Montreal', 3),
  ('griffintown', null, 'city:CA/Montreal', 3),
  ('saint henri montreal', null, 'city:CA/Montreal', 3),
  ('ndg montreal', null, 'city:CA/Montreal', 3),
  ('kitsilano', null, 'city:CA/Vancouver', 3),
  ('east van', null, 'city:CA/Vancouver', 3),
  ('mount pleasant vancouver', null, 'city:CA/Vancouver', 3),
  ('commercial drive', null, 'city:CA/Vancouver', 3),
  ('gastown', null, 'city:CA/Vancouver', 3),
  ('yaletown', null, 'city:CA/Vancouver', 3),
  ('kerrisdale', null, 'city:CA/Vancouver', 3),
  ('burnaby', null, 'city:CA/Vancouver', 3),
  ('the glebe', null, 'city:CA/Ottawa', 3),
  ('hintonburg', null, 'city:CA/Ottawa', 3),
  ('centretown', null, 'city:CA/Ottawa', 3),
  ('brunswick', null, 'city:AU/Melbourne', 3),
  ('brunswick west', null, 'city:AU/Melbourne', 3),
  ('brunswick east', null, 'city:AU/Melbourne', 3),
  ('fitzroy', null, 'city:AU/Melbourne', 3),
  ('fitzroy north', null, 'city:AU/Melbourne', 3),
  ('footscray', null, 'city:AU/Melbourne', 3),
  ('st kilda', null, 'city:AU/Melbourne', 3),
  ('collingwood', null, 'city:AU/Melbourne', 3),
  ('carlton north', null, 'city:AU/Melbourne', 3),
  ('northcote', null, 'city:AU/Melbourne', 3),
  ('preston vic', null, 'city:AU/Melbourne', 3),
  ('coburg vic', null, 'city:AU/Melbourne', 3),
  ('prahran', null, 'city:AU/Melbourne', 3),
  ('south yarra', null, 'city:AU/Melbourne', 3),
  ('werribee', null, 'city:AU/Melbourne', 3),
  ('thornbury', null, 'city:AU/Melbourne', 3),
  ('yarraville', null, 'city:AU/Melbourne', 3),
  ('hawthorn vic', null, 'city:AU/Melbourne', 3),
  ('sunshine vic', null, 'city:AU/Melbourne', 3),
  ('moonee ponds', null, 'city:AU/Melbourne', 3),
  ('newtown nsw', null, 'city:AU/Sydney', 3),
  ('marrickville', null, 'city:AU/Sydney', 3),
  ('bondi', null, 'city:AU/Sydney', 3),
  ('bondi beach', null, 'city:AU/Sydney', 3),
  ('surry hills', null, 'city:AU/Sydney', 3),
  ('parramatta', null, 'city:AU/Sydney', 3),
  ('glebe nsw', null, 'city:AU/Sydney', 3),
  ('redfern', null, 'city:AU/Sydney', 3),
  ('manly nsw', null, 'city:AU/Sydney', 3),
  ('paddington nsw', null, 'city:AU/Sydney', 3),
  ('leichhardt', null, 'city:AU/Sydney', 3),
  ('coogee', null, 'city:AU/Sydney', 3),
  ('inner west', null, 'city:AU/Sydney', 3),
  ('chatswood', null, 'city:AU/Sydney', 3),
  ('blacktown', null, 'city:AU/Sydney', 3),
  ('west end brisbane', null, 'city:AU/Brisbane', 3),
  ('fortitude valley', null, 'city:AU/Brisbane', 3),
  ('new farm', null, 'city:AU/Brisbane', 3),
  ('paddington qld', null, 'city:AU/Brisbane', 3),
  ('woolloongabba', null, 'city:AU/Brisbane', 3),
  ('toowong', null, 'city:AU/Brisbane', 3),
  ('fremantle', null, 'city:AU/Perth', 3),
  ('subiaco', null, 'city:AU/Perth', 3),
  ('mount lawley', null, 'city:AU/Perth', 3),
  ('leederville', null, 'city:AU/Perth', 3),
  ('glenelg', null, 'city:AU/Adelaide', 3),
  ('prospect sa', null, 'city:AU/Adelaide', 3),
  ('norwood sa', null, 'city:AU/Adelaide', 3),
  ('ponsonby', null, 'city:NZ/Auckland', 3),
  ('grey lynn', null, 'city:NZ/Auckland', 3),
  ('mount eden', null, 'city:NZ/Auckland', 3),
  ('takapuna', null, 'city:NZ/Auckland', 3),
  ('devonport auckland', null, 'city:NZ/Auckland', 3),
  ('newtown wellington', null, 'city:NZ/Wellington', 3),
  ('te aro', null, 'city:NZ/Wellington', 3),
  ('aro valley', null, 'city:NZ/Wellington', 3),
  ('lower hutt', null, 'city:NZ/Wellington', 3),
  ('kreuzberg', null, 'city:DE/Berlin', 3),
  ('neukolln', null, 'city:DE/Berlin', 3),
  ('friedrichshain', null, 'city:DE/Berlin', 3),
  ('prenzlauer berg', null, 'city:DE/Berlin', 3),
  ('charlottenburg', null, 'city:DE/Berlin', 3),
  ('schoneberg', null, 'city:DE/Berlin', 3),
  ('moabit', null, 'city:DE/Berlin', 3),
  ('tempelhof', null, 'city:DE/Berlin', 3),
  ('treptow', null, 'city:DE/Berlin', 3),
  ('pankow', null, 'city:DE/Berlin', 3),
  ('lichtenberg', null, 'city:DE/Berlin', 3),
  ('spandau', null, 'city:DE/Berlin', 3),
  ('steglitz', null, 'city:DE/Berlin', 3),
  ('zehlendorf', null, 'city:DE/Berlin', 3),
  ('kopenick', null, 'city:DE/Berlin', 3),
  ('wilmersdorf', null, 'city:DE/Berlin', 3),
  ('berlin mitte', null, 'city:DE/Berlin', 3),
  ('weissensee', null, 'city:DE/Berlin', 3),
  ('marzahn', null, 'city:DE/Berlin', 3),
  ('friedenau', null, 'city:DE/Berlin', 3),
  ('gesundbrunnen', null, 'city:DE/Berlin', 3),
  ('reinickendorf', null, 'city:DE/Berlin', 3),
  ('karlshorst', null, 'city:DE/Berlin', 3),
  ('adlershof', null, 'city:DE/Berlin', 3),
  ('hellersdorf', null, 'city:DE/Berlin', 3),
  ('rixdorf', null, 'city:DE/Berlin', 3),
  ('boxhagener platz', null, 'city:DE/Berlin', 3),
  ('wedding', null, 'city:DE/Berlin', 1),
  ('mitte', null, 'city:DE/Berlin', 1),
  ('altona', null, 'city:DE/Hamburg', 3),
  ('eimsbuttel', null, 'city:DE/Hamburg', 3),
  ('ottensen', null, 'city:DE/Hamburg', 3),
  ('st pauli', null, 'city:DE/Hamburg', 3),
  ('sankt pauli', null, 'city:DE/Hamburg', 3),
  ('sternschanze', null, 'city:DE/Hamburg', 3),
  ('schanzenviertel', null, 'city:DE/Hamburg', 3),
  ('winterhude', null, 'city:DE/Hamburg', 3),
  ('eppendorf', null, 'city:DE/Hamburg', 3),
  ('barmbek', null, 'city:DE/Hamburg', 3),
  ('wandsbek', null, 'city:DE/Hamburg', 3),
  ('harburg', null, 'city:DE/Hamburg', 3),
  ('wilhelmsburg', null, 'city:DE/Hamburg', 3),
  ('hoheluft', null, 'city:DE/Hamburg', 3),
  ('bergedorf', null, 'city:DE/Hamburg', 3),
  ('blankenese', null, 'city:DE/Hamburg', 3),
  ('uhlenhorst', null, 'city:DE/Hamburg', 3),
  ('eilbek', null, 'city:DE/Hamburg', 3),
  ('hammerbrook', null, 'city:DE/Hamburg', 3),
  ('schanze', null, 'city:DE/Hamburg', 3),
  ('schwabing', null, 'city:DE/München', 3),
  ('haidhausen', null, 'city:DE/München', 3),
  ('giesing', null, 'city:DE/München', 3),
  ('sendling', null, 'city:DE/München', 3),
  ('neuhausen munchen', null, 'city:DE/München', 3),
  ('maxvorstadt', null, 'city:DE/München', 3),
  ('laim', null, 'city:DE/München', 3),
  ('pasing', null, 'city:DE/München', 3),
  ('glockenbachviertel', null, 'city:DE/München', 3),
  ('obergiesing', null, 'city:DE/München', 3),
  ('untergiesing', null, 'city:DE/München', 3),
  ('bogenhausen', null, 'city:DE/München', 3),
  ('trudering', null, 'city:DE/München', 3),
  ('moosach', null, 'city:DE/München', 3),
  ('milbertshofen', null, 'city:DE/München', 3),
  ('lehel', null, 'city:DE/München', 3),
  ('ramersdorf', null, 'city:DE/München', 3),
  ('isarvorstadt', null, 'city:DE/München', 3),
  ('munich', null, 'city:DE/München', 3),
  ('muenchen', null, 'city:DE/München', 3),
  ('ehrenfeld', null, 'city:DE/Köln', 3),
  ('nippes', null, 'city:DE/Köln', 3),
  ('deutz', null, 'city:DE/Köln', 3),
  ('sulz', null, 'city:DE/Köln', 3),
  ('lindenthal', null, 'city:DE/Köln', 3),
  ('kalk koln', null, 'city:DE/Köln', 3),
  ('rodenkirchen', null, 'city:DE/Köln', 3),
  ('mulheim koln', null, 'city:DE/Köln', 3),
  ('cologne', null, 'city:DE/Köln', 3),
  ('koeln', null, 'city:DE/Köln', 3),
  ('belgisches viertel', null, 'city:DE/Köln', 3),
  ('zollstock', null, 'city:DE/Köln', 3),
  ('agnesviertel', null, 'city:DE/Köln', 3),
  ('bornheim', null, 'city:DE/Frankfurt am Main', 3),
  ('sachsenhausen', null, 'city:DE/Frankfurt am Main', 3),
  ('bockenheim', null, 'city:DE/Frankfurt am Main', 3),
  ('nordend', null, 'city:DE/Frankfurt am Main', 3),
  ('ffm', null, 'city:DE/Frankfurt am Main', 3),
  ('frankfurt a m', null, 'city:DE/Frankfurt am Main', 3),
  ('frankfurt main', null, 'city:DE/Frankfurt am Main', 3),
  ('griesheim frankfurt', null, 'city:DE/Frankfurt am Main', 3),
  ('gallus', null, 'city:DE/Frankfurt am Main', 3),
  ('plagwitz', null, 'city:DE/Leipzig', 3),
  ('connewitz', null, 'city:DE/Leipzig', 3),
  ('lindenau', null, 'city:DE/Leipzig', 3),
  ('reudnitz', null, 'city:DE/Leipzig', 3),
  ('schleussig', null, 'city:DE/Leipzig', 3),
  ('gohlis', null, 'city:DE/Leipzig', 3),
  ('sudvorstadt leipzig', null, 'city:DE/Leipzig', 3),
  ('dresden neustadt', null, 'city:DE/Dresden', 3),
  ('striesen', null, 'city:DE/Dresden', 3),
  ('pieschen', null, 'city:DE/Dresden', 3),
  ('lobtau', null, 'city:DE/Dresden', 3),
  ('blasewitz', null, 'city:DE/Dresden', 3),
  ('bad cannstatt', null, 'city:DE/Stuttgart', 3),
  ('cannstatt', null, 'city:DE/Stuttgart', 3),
  ('vaihingen', null, 'city:DE/Stuttgart', 3),
  ('feuerbach', null, 'city:DE/Stuttgart', 3),
  ('degerloch', null, 'city:DE/Stuttgart', 3),
  ('zuffenhausen', null, 'city:DE/Stuttgart', 3),
  ('stuttgart west', null, 'city:DE/Stuttgart', 3),
  ('bilk', null, 'city:DE/Düsseldorf', 3),
  ('flingern', null, 'city:DE/Düsseldorf', 3),
  ('oberkassel', null, 'city:DE/Düsseldorf', 3),
  ('pempelfort', null, 'city:DE/Düsseldorf', 3),
  ('duesseldorf', null, 'city:DE/Düsseldorf', 3),
  ('derendorf', null, 'city:DE/Düsseldorf', 3),
  ('unterbilk', null, 'city:DE/Düsseldorf', 3),
  ('hanover germany', null, 'city:DE/Hannover', 3),
  ('linden nord', null, 'city:DE/Hannover', 3),
  ('hannover linden', null, 'city:DE/Hannover', 3),
  ('list hannover', null, 'city:DE/Hannover', 3),
  ('nuremberg', null, 'city:DE/Nürnberg', 3),
  ('gostenhof', null, 'city:DE/Nürnberg', 3),
  ('nuernberg', null, 'city:DE/Nürnberg', 3),
  ('ostertor', null, 'city:DE/Bremen', 3),
  ('viertel bremen', null, 'city:DE/Bremen', 3),
  ('findorff', null, 'city:DE/Bremen', 3),
  ('walle bremen', null, 'city:DE/Bremen', 3),
  ('freiburg im breisgau', null, 'city:DE/Freiburg', 3),
  ('vauban freiburg', null, 'city:DE/Freiburg', 3),
  ('wiehre', null, 'city:DE/Freiburg', 3),
  ('vienna', null, 'city:AT/Wien', 3),
  ('leopoldstadt', null, 'city:AT/Wien', 3),
  ('ottakring', null, 'city:AT/Wien', 3),
  ('favoriten', null, 'city:AT/Wien', 3),
  ('neubau wien', null, 'city:AT/Wien', 3),
  ('mariahilf', null, 'city:AT/Wien', 3),
  ('josefstadt wien', null, 'city:AT/Wien', 3),
  ('wahring', null, 'city:AT/Wien', 3),
  ('dobling', null, 'city:AT/Wien', 3),
  ('floridsdorf', null, 'city:AT/Wien', 3),
  ('donaustadt', null, 'city:AT/Wien', 3),
  ('hernals', null, 'city:AT/Wien', 3),
  ('penzing', null, 'city:AT/Wien', 3),
  ('simmering', null, 'city:AT/Wien', 3),
  ('lehen salzburg', null, 'city:AT/Salzburg', 3),
  ('zurich', null, 'city:CH/Zürich', 3),
  ('oerlikon', null, 'city:CH/Zürich', 3),
  ('wiedikon', null, 'city:CH/Zürich', 3),
  ('altstetten', null, 'city:CH/Zürich', 3),
  ('zuerich', null, 'city:CH/Zürich', 3),
  ('wipkingen', null, 'city:CH/Zürich', 3),
  ('aussersihl', null, 'city:CH/Zürich', 3),
  ('geneva', null, 'city:CH/Genève', 3),
  ('genf', null, 'city:CH/Genève', 3),
  ('ginevra', null, 'city:CH/Genève', 3),
  ('ginebra', null, 'city:CH/Genève', 3),
  ('carouge', null, 'city:CH/Genève', 3),
  ('plainpalais', null, 'city:CH/Genève', 3),
  ('basle', null, 'city:CH/Basel', 3),
  ('kleinbasel', null, 'city:CH/Basel', 3),
  ('gundeldingen', null, 'city:CH/Basel', 3),
  ('berne', null, 'city:CH/Bern', 3),
  ('lorraine bern', null, 'city:CH/Bern', 3),
  ('breitenrain', null, 'city:CH/Bern', 3),
  ('lucerne', null, 'city:CH/Luzern', 3),
  ('montmartre', null, 'city:FR/Paris', 3),
  ('belleville', null, 'city:FR/Paris', 3),
  ('bastille', null, 'city:FR/Paris', 3),
  ('le marais', null, 'city:FR/Paris', 3),
  ('montparnasse', null, 'city:FR/Paris', 3),
  ('batignolles', null, 'city:FR/Paris', 3),
  ('menilmontant', null, 'city:FR/Paris', 3),
  ('oberkampf', null, 'city:FR/Paris', 3),
  ('paris 1er', null, 'city:FR/Paris', 3),
  ('paris 2e', null, 'city:FR/Paris', 3),
  ('paris 3e', null, 'city:FR/Paris', 3),
  ('paris 4e', null, 'city:FR/Paris', 3),
  ('paris 5e', null, 'city:FR/Paris', 3),
  ('paris 6e', null, 'city:FR/Paris', 3),
  ('paris 7e', null, 'city:FR/Paris', 3),
  ('paris 8e', null, 'city:FR/Paris', 3),
  ('paris 9e', null, 'city:FR/Paris', 3),
  ('paris 10e', null, 'city:FR/Paris', 3),
  ('paris 11e', null, 'city:FR/Paris', 3),
  ('paris 12e', null, 'city:FR/Paris', 3),
  ('paris 13e', null, 'city:FR/Paris', 3),
  ('paris 14e', null, 'city:FR/Paris', 3),
  ('paris 15e', null, 'city:FR/Paris', 3),
  ('paris 16e', null, 'city:FR/Paris', 3),
  ('paris 17e', null, 'city:FR/Paris', 3),
  ('paris 18e', null, 'city:FR/Paris', 3),
  ('paris 19e', null, 'city:FR/Paris', 3),
  ('paris 20e', null, 'city:FR/Paris', 3),
  ('pigalle', null, 'city:FR/Paris', 3),
  ('quartier latin', null, 'city:FR/Paris', 3),
  ('buttes chaumont', null, 'city:FR/Paris', 3),
  ('pere lachaise', null, 'city:FR/Paris', 3),
  ('montreuil', null, 'city:FR/Paris', 3),
  ('boulogne billancourt', null, 'city:FR/Paris', 3),
  ('parigi', null, 'city:FR/Paris', 3),
  ('parys', null, 'city:FR/Paris', 3),
  ('ile de france', null, 'city:FR/Paris', 3),
  ('saint ouen', null, 'city:FR/Paris', 3),
  ('ivry sur seine', null, 'city:FR/Paris', 3),
  ('croix rousse', null, 'city:FR/Lyon', 3),
  ('guillotiere', null, 'city:FR/Lyon', 3),
  ('vieux lyon', null, 'city:FR/Lyon', 3),
  ('part dieu', null, 'city:FR/Lyon', 3),
  ('villeurbanne', null, 'city:FR/Lyon', 3),
  ('confluence lyon', null, 'city:FR/Lyon', 3),
  ('monplaisir', null, 'city:FR/Lyon', 3),
  ('gerland', null, 'city:FR/Lyon', 3),
  ('lyons', null, 'city:FR/Lyon', 3),
  ('lione', null, 'city:FR/Lyon', 3),
  ('le panier', null, 'city:FR/Marseille', 3),
  ('vieux port marseille', null, 'city:FR/Marseille', 3),
  ('la joliette', null, 'city:FR/Marseille', 3),
  ('endoume', null, 'city:FR/Marseille', 3),
  ('belle de mai', null, 'city:FR/Marseille', 3),
  ('cours julien', null, 'city:FR/Marseille', 3),
  ('la plaine marseille', null, 'city:FR/Marseille', 3),
  ('marsiglia', null, 'city:FR/Marseille', 3),
  ('marsella', null, 'city:FR/Marseille', 3),
  ('saint cyprien toulouse', null, 'city:FR/Toulouse', 3),
  ('carmes toulouse', null, 'city:FR/Toulouse', 3),
  ('minimes toulouse', null, 'city:FR/Toulouse', 3),
  ('saint michel toulouse', null, 'city:FR/Toulouse', 3),
  ('tolosa', null, 'city:FR/Toulouse', 3),
  ('chartrons', null, 'city:FR/Bordeaux', 3),
  ('saint michel bordeaux', null, 'city:FR/Bordeaux', 3),
  ('la bastide bordeaux', null, 'city:FR/Bordeaux', 3),
  ('cauderan', null, 'city:FR/Bordeaux', 3),
  ('bacalan', null, 'city:FR/Bordeaux', 3),
  ('merignac', null, 'city:FR/Bordeaux', 3),
  ('burdeos', null, 'city:FR/Bordeaux', 3),
  ('ile de nantes', null, 'city:FR/Nantes', 3),
  ('chantenay', null, 'city:FR/Nantes', 3),
  ('doulon', null, 'city:FR/Nantes', 3),
  ('krutenau', null, 'city:FR/Strasbourg', 3),
  ('neudorf strasbourg', null, 'city:FR/Strasbourg', 3),
  ('petite france', null, 'city:FR/Strasbourg', 3),
  ('neuhof strasbourg', null, 'city:FR/Strasbourg', 3),
  ('strassburg', null, 'city:FR/Strasbourg', 3),
  ('estrasburgo', null, 'city:FR/Strasbourg', 3),
  ('wazemmes', null, 'city:FR/Lille', 3),
  ('vauban lille', null, 'city:FR/Lille', 3),
  ('vieux lille', null, 'city:FR/Lille', 3),
  ('fives', null, 'city:FR/Lille', 3),
  ('roubaix', null, 'city:FR/Lille', 3),
  ('tourcoing', null, 'city:FR/Lille', 3),
  ('rijsel', null, 'city:FR/Lille', 3),
  ('antigone montpellier', null, 'city:FR/Montpellier', 3),
  ('beaux arts montpellier', null, 'city:FR/Montpellier', 3),
  ('figuerolles', null, 'city:FR/Montpellier', 3),
  ('nizza', null, 'city:FR/Nice', 3),
  ('nice cimiez', null, 'city:FR/Nice', 3),
  ('vieux nice', null, 'city:FR/Nice', 3),
  ('thabor rennes', null, 'city:FR/Rennes', 3),
  ('sainte therese rennes', null, 'city:FR/Rennes', 3),
  ('brussels', null, 'city:BE/Bruxelles', 3),
  ('brussel', null, 'city:BE/Bruxelles', 3),
  ('bruxelles', null, 'city:BE/Bruxelles', 3),
  ('brussele', null, 'city:BE/Bruxelles', 3),
  ('ixelles', null, 'city:BE/Bruxelles', 3),
  ('elsene', null, 'city:BE/Bruxelles', 3),
  ('schaerbeek', null, 'city:BE/Bruxelles', 3),
  ('saint gilles', null, 'city:BE/Bruxelles', 3),
  ('sint gillis', null, 'city:BE/Bruxelles', 3),
  ('molenbeek', null, 'city:BE/Bruxelles', 3),
  ('etterbeek', null, 'city:BE/Bruxelles', 3),
  ('uccle', null, 'city:BE/Bruxelles', 3),
  ('ukkel', null, 'city:BE/Bruxelles', 3),
  ('anderlecht', null, 'city:BE/Bruxelles', 3),
  ('laeken', null, 'city:BE/Bruxelles', 3),
  ('bruselas', null, 'city:BE/Bruxelles', 3),
  ('bruksela', null, 'city:BE/Bruxelles', 3),
  ('antwerp', null, 'city:BE/Antwerpen', 3),
  ('anvers', null, 'city:BE/Antwerpen', 3),
  ('borgerhout', null, 'city:BE/Antwerpen', 3),
  ('berchem', null, 'city:BE/Antwerpen', 3),
  ('deurne antwerpen', null, 'city:BE/Antwerpen', 3),
  ('hoboken antwerpen', null, 'city:BE/Antwerpen', 3),
  ('amberes', null, 'city:BE/Antwerpen', 3),
  ('ghent', null, 'city:BE/Gent', 3),
  ('gand', null, 'city:BE/Gent', 3),
  ('ledeberg', null, 'city:BE/Gent', 3),
  ('gentbrugge', null, 'city:BE/Gent', 3),
  ('dampoort', null, 'city:BE/Gent', 3),
  ('bruges', null, 'city:BE/Brugge', 3),
  ('brugia', null, 'city:BE/Brugge', 3),
  ('luik', null, 'city:BE/Liège', 3),
  ('luttich', null, 'city:BE/Liège', 3),
  ('lieja', null, 'city:BE/Liège', 3),
  ('outremeuse', null, 'city:BE/Liège', 3),
  ('louvain', null, 'city:BE/Leuven', 3),
  ('heverlee', null, 'city:BE/Leuven', 3),
  ('kessel lo', null, 'city:BE/Leuven', 3),
  ('gracia', null, 'city:ES/Barcelona', 3),
  ('vila de gracia', null, 'city:ES/Barcelona', 3),
  ('eixample', null, 'city:ES/Barcelona', 3),
  ('el born', null, 'city:ES/Barcelona', 3),
  ('raval', null, 'city:ES/Barcelona', 3),
  ('poblenou', null, 'city:ES/Barcelona', 3),
  ('sants', null, 'city:ES/Barcelona', 3),
  ('barceloneta', null, 'city:ES/Barcelona', 3),
  ('poble sec', null, 'city:ES/Barcelona', 3),
  ('sarria', null, 'city:ES/Barcelona', 3),
  ('les corts', null, 'city:ES/Barcelona', 3),
  ('sant andreu', null, 'city:ES/Barcelona', 3),
  ('horta guinardo', null, 'city:ES/Barcelona', 3),
  ('gotico', null, 'city:ES/Barcelona', 3),
  ('sant antoni', null, 'city:ES/Barcelona', 3),
  ('nou barris', null, 'city:ES/Barcelona', 3),
  ('l hospitalet', null, 'city:ES/Barcelona', 3),
  ('hospitalet de llobregat', null, 'city:ES/Barcelona', 3),
  ('badalona', null, 'city:ES/Barcelona', 3),
  ('barcellona', null, 'city:ES/Barcelona', 3),
  ('bcn', null, 'city:ES/Barcelona', 3),
  ('lavapies', null, 'city:ES/Madrid', 3),
  ('malasana', null, 'city:ES/Madrid', 3),
  ('chueca', null, 'city:ES/Madrid', 3),
  ('chamberi', null, 'city:ES/Madrid', 3),
  ('carabanchel', null, 'city:ES/Madrid', 3),
  ('vallecas', null, 'city:ES/Madrid', 3),
  ('tetuan', null, 'city:ES/Madrid', 3),
  ('chamartin', null, 'city:ES/Madrid', 3),
  ('moncloa', null, 'city:ES/Madrid', 3),
  ('arganzuela', null, 'city:ES/Madrid', 3),
  ('la latina', null, 'city:ES/Madrid', 3),
  ('usera', null, 'city:ES/Madrid', 3),
  ('hortaleza', null, 'city:ES/Madrid', 3),
  ('retiro madrid', null, 'city:ES/Madrid', 3),
  ('salamanca madrid', null, 'city:ES/Madrid', 3),
  ('aluche', null, 'city:ES/Madrid', 3),
  ('puente de vallecas', null, 'city:ES/Madrid', 3),
  ('ruzafa', null, 'city:ES/Valencia', 3),
  ('russafa', null, 'city:ES/Valencia', 3),
  ('benimaclet', null, 'city:ES/Valencia', 3),
  ('el carmen valencia', null, 'city:ES/Valencia', 3),
  ('el cabanyal', null, 'city:ES/Valencia', 3),
  ('cabanyal', null, 'city:ES/Valencia', 3),
  ('campanar', null, 'city:ES/Valencia', 3),
  ('patraix', null, 'city:ES/Valencia', 3),
  ('triana', null, 'city:ES/Sevilla', 3),
  ('nervion', null, 'city:ES/Sevilla', 3),
  ('macarena', null, 'city:ES/Sevilla', 3),
  ('los remedios', null, 'city:ES/Sevilla', 3),
  ('alameda de hercules', null, 'city:ES/Sevilla', 3),
  ('seville', null, 'city:ES/Sevilla', 3),
  ('siviglia', null, 'city:ES/Sevilla', 3),
  ('sewilla', null, 'city:ES/Sevilla', 3),
  ('seviglia', null, 'city:ES/Sevilla', 3),
  ('realejo', null, 'city:ES/Granada', 3),
  ('albaicin', null, 'city:ES/Granada', 3),
  ('albayzin', null, 'city:ES/Granada', 3),
  ('zaidin', null, 'city:ES/Granada', 3),
  ('huelin', null, 'city:ES/Málaga', 3),
  ('la malagueta', null, 'city:ES/Málaga', 3),
  ('el palo', null, 'city:ES/Málaga', 3),
  ('pedregalejo', null, 'city:ES/Málaga', 3),
  ('teatinos', null, 'city:ES/Málaga', 3),
  ('saragossa', null, 'city:ES/Zaragoza', 3),
  ('delicias zaragoza', null, 'city:ES/Zaragoza', 3),
  ('actur', null, 'city:ES/Zaragoza', 3),
  ('saragozza', null, 'city:ES/Zaragoza', 3),
  ('casco viejo bilbao', null, 'city:ES/Bilbao', 3),
  ('deusto', null, 'city:ES/Bilbao', 3),
  ('santutxu', null, 'city:ES/Bilbao', 3),
  ('abando', null, 'city:ES/Bilbao', 3),
  ('gran bilbao', null, 'city:ES/Bilbao', 3),
  ('indautxu', null, 'city:ES/Bilbao', 3),
  ('donostia', null, 'city:ES/San Sebastián', 3),
  ('gros donostia', null, 'city:ES/San Sebastián', 3),
  ('antiguo donostia', null, 'city:ES/San Sebastián', 3),
  ('cordova spain', null, 'city:ES/Córdoba', 3),
  ('juderia cordoba', null, 'city:ES/Córdoba', 3),
  ('la coruna', null, 'city:ES/A Coruña', 3),
  ('coruna', null, 'city:ES/A Coruña', 3),
  ('palma de mallorca', null, 'city:ES/Palma', 3),
  ('santa catalina palma', null, 'city:ES/Palma', 3),
  ('son gotleu', null, 'city:ES/Palma', 3),
  ('cdmx', null, 'city:MX/Ciudad de México', 3),
  ('mexico city', null, 'city:MX/Ciudad de México', 3),
  ('coyoacan', null, 'city:MX/Ciudad de México', 3),
  ('roma norte', null, 'city:MX/Ciudad de México', 3),
  ('condesa', null, 'city:MX/Ciudad de México', 3),
  ('polanco', null, 'city:MX/Ciudad de México', 3),
  ('narvarte', null, 'city:MX/Ciudad de México', 3),
  ('iztapalapa', null, 'city:MX/Ciudad de México', 3),
  ('del valle cdmx', null, 'city:MX/Ciudad de México', 3),
  ('colonia roma', null, 'city:MX/Ciudad de México', 3),
  ('tlalpan', null, 'city:MX/Ciudad de México', 3),
  ('xochimilco', null, 'city:MX/Ciudad de México', 3),
  ('palermo soho', null, 'city:AR/Buenos Aires', 3),
  ('recoleta', null, 'city:AR/Buenos Aires', 3),
  ('san telmo', null, 'city:AR/Buenos Aires', 3),
  ('villa crespo', null, 'city:AR/Buenos Aires', 3),
  ('caballito', null, 'city:AR/Buenos Aires', 3),
  ('almagro', null, 'city:AR/Buenos Aires', 3),
  ('belgrano', null, 'city:AR/Buenos Aires', 3),
  ('caba', null, 'city:AR/Buenos Aires', 3),
  ('palermo buenos aires', null, 'city:AR/Buenos Aires', 3),
  ('colegiales', null, 'city:AR/Buenos Aires', 3),
  ('nunez buenos aires', null, 'city:AR/Buenos Aires', 3),
  ('providencia santiago', null, 'city:CL/Santiago', 3),
  ('nunoa', null, 'city:CL/Santiago', 3),
  ('las condes', null, 'city:CL/Santiago', 3),
  ('barrio italia', null, 'city:CL/Santiago', 3),
  ('santiago de chile', null, 'city:CL/Santiago', 3),
  ('chapinero', null, 'city:CO/Bogotá', 3),
  ('usaquen', null, 'city:CO/Bogotá', 3),
  ('la candelaria', null, 'city:CO/Bogotá', 3),
  ('teusaquillo', null, 'city:CO/Bogotá', 3),
  ('el poblado', null, 'city:CO/Medellín', 3),
  ('laureles medellin', null, 'city:CO/Medellín', 3),
  ('envigado', null, 'city:CO/Medellín', 3),
  ('miraflores', null, 'city:PE/Lima', 3),
  ('barranco lima', null, 'city:PE/Lima', 3),
  ('san isidro lima', null, 'city:PE/Lima', 3),
  ('pocitos', null, 'city:UY/Montevideo', 3),
  ('cordon montevideo', null, 'city:UY/Montevideo', 3),
  ('ciudad vieja montevideo', null, 'city:UY/Montevideo', 3),
  ('rome', null, 'city:IT/Roma', 3),
  ('rom italien', null, 'city:IT/Roma', 3),
  ('trastevere', null, 'city:IT/Roma', 3),
  ('testaccio', null, 'city:IT/Roma', 3),
  ('pigneto', null, 'city:IT/Roma', 3),
  ('san lorenzo roma', null, 'city:IT/Roma', 3),
  ('prati roma', null, 'city:IT/Roma', 3),
  ('garbatella', null, 'city:IT/Roma', 3),
  ('ostiense', null, 'city:IT/Roma', 3),
  ('centocelle', null, 'city:IT/Roma', 3),
  ('monti roma', null, 'city:IT/Roma', 3),
  ('eur roma', null, 'city:IT/Roma', 3),
  ('rzym', null, 'city:IT/Roma', 3),
  ('monteverde roma', null, 'city:IT/Roma', 3),
  ('milan', null, 'city:IT/Milano', 3),
  ('mailand', null, 'city:IT/Milano', 3),
  ('milao', null, 'city:IT/Milano', 3),
  ('mediolan', null, 'city:IT/Milano', 3),
  ('navigli', null, 'city:IT/Milano', 3),
  ('isola milano', null, 'city:IT/Milano', 3),
  ('porta romana', null, 'city:IT/Milano', 3),
  ('lambrate', null, 'city:IT/Milano', 3),
  ('porta venezia', null, 'city:IT/Milano', 3),
  ('citta studi', null, 'city:IT/Milano', 3),
  ('bicocca', null, 'city:IT/Milano', 3),
  ('brera', null, 'city:IT/Milano', 3),
  ('porta genova', null, 'city:IT/Milano', 3),
  ('bovisa', null, 'city:IT/Milano', 3),
  ('milaan', null, 'city:IT/Milano', 3),
  ('turin', null, 'city:IT/Torino', 3),
  ('san salvario', null, 'city:IT/Torino', 3),
  ('vanchiglia', null, 'city:IT/Torino', 3),
  ('barriera di milano', null, 'city:IT/Torino', 3),
  ('crocetta torino', null, 'city:IT/Torino', 3),
  ('cit turin', null, 'city:IT/Torino', 3),
  ('turyn', null, 'city:IT/Torino', 3),
  ('naples', null, 'city:IT/Napoli', 3),
  ('neapel', null, 'city:IT/Napoli', 3),
  ('vomero', null, 'city:IT/Napoli', 3),
  ('chiaia', null, 'city:IT/Napoli', 3),
  ('posillipo', null, 'city:IT/Napoli', 3),
  ('fuorigrotta', null, 'city:IT/Napoli', 3),
  ('quartieri spagnoli', null, 'city:IT/Napoli', 3),
  ('neapol', null, 'city:IT/Napoli', 3),
  ('napels', null, 'city:IT/Napoli', 3),
  ('napoles', null, 'city:IT/Napoli', 3),
  ('florence', null, 'city:IT/Firenze', 3),
  ('florenz', null, 'city:IT/Firenze', 3),
  ('florencia', null, 'city:IT/Firenze', 3),
  ('oltrarno', null, 'city:IT/Firenze', 3),
  ('campo di marte', null, 'city:IT/Firenze', 3),
  ('santo spirito', null, 'city:IT/Firenze', 3),
  ('novoli', null, 'city:IT/Firenze', 3),
  ('florencja', null, 'city:IT/Firenze', 3),
  ('florenca', null, 'city:IT/Firenze', 3),
  ('bolognina', null, 'city:IT/Bologna', 3),
  ('san donato bologna', null, 'city:IT/Bologna', 3),
  ('santo stefano bologna', null, 'city:IT/Bologna', 3),
  ('saragozza bologna', null, 'city:IT/Bologna', 3),
  ('bolonia', null, 'city:IT/Bologna', 3),
  ('venice', null, 'city:IT/Venezia', 3),
  ('venedig', null, 'city:IT/Venezia', 3),
  ('cannaregio', null, 'city:IT/Venezia', 3),
  ('dorsoduro', null, 'city:IT/Venezia', 3),
  ('mestre', null, 'city:IT/Venezia', 3),
  ('giudecca', null, 'city:IT/Venezia', 3),
  ('venecia', null, 'city:IT/Venezia', 3),
  ('venise', null, 'city:IT/Venezia', 3),
  ('wenecja', null, 'city:IT/Venezia', 3),
  ('veneza', null, 'city:IT/Venezia', 3),
  ('genoa', null, 'city:IT/Genova', 3),
  ('genua', null, 'city:IT/Genova', 3),
  ('nervi genova', null, 'city:IT/Genova', 3),
  ('albaro', null, 'city:IT/Genova', 3),
  ('castelletto', null, 'city:IT/Genova', 3),
  ('sampierdarena', null, 'city:IT/Genova', 3),
  ('ballaro', null, 'city:IT/Palermo', 3),
  ('vucciria', null, 'city:IT/Palermo', 3),
  ('mondello', null, 'city:IT/Palermo', 3),
  ('padua', null, 'city:IT/Padova', 3),
  ('arcella', null, 'city:IT/Padova', 3),
  ('padoue', null, 'city:IT/Padova', 3),
  ('borgo trento verona', null, 'city:IT/Verona', 3),
  ('veronetta', null, 'city:IT/Verona', 3),
  ('triest', null, 'city:IT/Trieste', 3),
  ('barriera vecchia', null, 'city:IT/Trieste', 3),
  ('bozen', null, 'city:IT/Bolzano', 3),
  ('trient', null, 'city:IT/Trento', 3),
  ('syracuse sicily', null, 'city:IT/Siracusa', 3),
  ('ortigia', null, 'city:IT/Siracusa', 3),
  ('lisbon', null, 'city:PT/Lisboa', 3),
  ('lissabon', null, 'city:PT/Lisboa', 3),
  ('lisbonne', null, 'city:PT/Lisboa', 3),
  ('lisbona', null, 'city:PT/Lisboa', 3),
  ('lizbona', null, 'city:PT/Lisboa', 3),
  ('alfama', null, 'city:PT/Lisboa', 3),
  ('graca lisboa', null, 'city:PT/Lisboa', 3),
  ('campo de ourique', null, 'city:PT/Lisboa', 3),
  ('bairro alto', null, 'city:PT/Lisboa', 3),
  ('arroios', null, 'city:PT/Lisboa', 3),
  ('benfica', null, 'city:PT/Lisboa', 3),
  ('alvalade', null, 'city:PT/Lisboa', 3),
  ('principe real', null, 'city:PT/Lisboa', 3),
  ('marvila', null, 'city:PT/Lisboa', 3),
  ('penha de franca', null, 'city:PT/Lisboa', 3),
  ('grande lisboa', null, 'city:PT/Lisboa', 3),
  ('mouraria', null, 'city:PT/Lisboa', 3),
  ('parque das nacoes', null, 'city:PT/Lisboa', 3),
  ('oporto', null, 'city:PT/Porto', 3),
  ('cedofeita', null, 'city:PT/Porto', 3),
  ('foz do douro', null, 'city:PT/Porto', 3),
  ('paranhos', null, 'city:PT/Porto', 3),
  ('ribeira porto', null, 'city:PT/Porto', 3),
  ('campanha porto', null, 'city:PT/Porto', 3),
  ('grande porto', null, 'city:PT/Porto', 3),
  ('boavista porto', null, 'city:PT/Porto', 3),
  ('solum coimbra', null, 'city:PT/Coimbra', 3),
  ('celas', null, 'city:PT/Coimbra', 3),
  ('vila madalena', null, 'city:BR/São Paulo', 3),
  ('pinheiros', null, 'city:BR/São Paulo', 3),
  ('itaim', null, 'city:BR/São Paulo', 3),
  ('moema', null, 'city:BR/São Paulo', 3),
  ('vila mariana', null, 'city:BR/São Paulo', 3),
  ('mooca', null, 'city:BR/São Paulo', 3),
  ('tatuape', null, 'city:BR/São Paulo', 3),
  ('perdizes', null, 'city:BR/São Paulo', 3),
  ('consolacao', null, 'city:BR/São Paulo', 3),
  ('sampa', null, 'city:BR/São Paulo', 3),
  ('bela vista sao paulo', null, 'city:BR/São Paulo', 3),
  ('butanta', null, 'city:BR/São Paulo', 3),
  ('copacabana', null, 'city:BR/Rio de Janeiro', 3),
  ('ipanema', null, 'city:BR/Rio de Janeiro', 3),
  ('leblon', null, 'city:BR/Rio de Janeiro', 3),
  ('botafogo', null, 'city:BR/Rio de Janeiro', 3),
  ('tijuca', null, 'city:BR/Rio de Janeiro', 3),
  ('barra da tijuca', null, 'city:BR/Rio de Janeiro', 3),
  ('lapa rio', null, 'city:BR/Rio de Janeiro', 3),
  ('santa teresa rio', null, 'city:BR/Rio de Janeiro', 3),
  ('savassi', null, 'city:BR/Belo Horizonte', 3),
  ('pampulha', null, 'city:BR/Belo Horizonte', 3),
  ('batel', null, 'city:BR/Curitiba', 3),
  ('agua verde curitiba', null, 'city:BR/Curitiba', 3),
  ('cidade baixa', null, 'city:BR/Porto Alegre', 3),
  ('moinhos de vento', null, 'city:BR/Porto Alegre', 3),
  ('de pijp', null, 'city:NL/Amsterdam', 3),
  ('jordaan', null, 'city:NL/Amsterdam', 3),
  ('amsterdam noord', null, 'city:NL/Amsterdam', 3),
  ('amsterdam oost', null, 'city:NL/Amsterdam', 3),
  ('amsterdam west', null, 'city:NL/Amsterdam', 3),
  ('nieuw west', null, 'city:NL/Amsterdam', 3),
  ('indische buurt', null, 'city:NL/Amsterdam', 3),
  ('rivierenbuurt', null, 'city:NL/Amsterdam', 3),
  ('oud zuid', null, 'city:NL/Amsterdam', 3),
  ('bos en lommer', null, 'city:NL/Amsterdam', 3),
  ('ijburg', null, 'city:NL/Amsterdam', 3),
  ('amsterdam zuidoost', null, 'city:NL/Amsterdam', 3),
  ('bijlmer', null, 'city:NL/Amsterdam', 3),
  ('de baarsjes', null, 'city:NL/Amsterdam', 3),
  ('kralingen', null, 'city:NL/Rotterdam', 3),
  ('delfshaven', null, 'city:NL/Rotterdam', 3),
  ('blijdorp', null, 'city:NL/Rotterdam', 3),
  ('rotterdam noord', null, 'city:NL/Rotterdam', 3),
  ('feijenoord', null, 'city:NL/Rotterdam', 3),
  ('kop van zuid', null, 'city:NL/Rotterdam', 3),
  ('hillegersberg', null, 'city:NL/Rotterdam', 3),
  ('the hague', null, 'city:NL/Den Haag', 3),
  ('den haag', null, 'city:NL/Den Haag', 3),
  ('s gravenhage', null, 'city:NL/Den Haag', 3),
  ('scheveningen', null, 'city:NL/Den Haag', 3),
  ('la haye', null, 'city:NL/Den Haag', 3),
  ('loosduinen', null, 'city:NL/Den Haag', 3),
  ('zeeheldenkwartier', null, 'city:NL/Den Haag', 3),
  ('la haya', null, 'city:NL/Den Haag', 3),
  ('l aia', null, 'city:NL/Den Haag', 3),
  ('statenkwartier', null, 'city:NL/Den Haag', 3),
  ('lombok utrecht', null, 'city:NL/Utrecht', 3),
  ('wittevrouwen', null, 'city:NL/Utrecht', 3),
  ('overvecht', null, 'city:NL/Utrecht', 3),
  ('utrecht oost', null, 'city:NL/Utrecht', 3),
  ('leidsche rijn', null, 'city:NL/Utrecht', 3),
  ('zuilen', null, 'city:NL/Utrecht', 3),
  ('tuindorp', null, 'city:NL/Utrecht', 3),
  ('strijp', null, 'city:NL/Eindhoven', 3),
  ('woensel', null, 'city:NL/Eindhoven', 3),
  ('gestel eindhoven', null, 'city:NL/Eindhoven', 3),
  ('oosterpark groningen', null, 'city:NL/Groningen', 3),
  ('paddepoel', null, 'city:NL/Groningen', 3),
  ('helpman', null, 'city:NL/Groningen', 3),
  ('warsaw', null, 'city:PL/Warszawa', 3),
  ('warschau', null, 'city:PL/Warszawa', 3),
  ('varsovie', null, 'city:PL/Warszawa', 3),
  ('varsavia', null, 'city:PL/Warszawa', 3),
  ('varsovia', null, 'city:PL/Warszawa', 3),
  ('mokotow', null, 'city:PL/Warszawa', 3),
  ('ursynow', null, 'city:PL/Warszawa', 3),
  ('praga poludnie', null, 'city:PL/Warszawa', 3),
  ('praga polnoc', null, 'city:PL/Warszawa', 3),
  ('zoliborz', null, 'city:PL/Warszawa', 3),
  ('ochota', null, 'city:PL/Warszawa', 3),
  ('bielany warszawa', null, 'city:PL/Warszawa', 3),
  ('wola warszawa', null, 'city:PL/Warszawa', 3),
  ('bemowo', null, 'city:PL/Warszawa', 3),
  ('wilanow', null, 'city:PL/Warszawa', 3),
  ('saska kepa', null, 'city:PL/Warszawa', 3),
  ('srodmiescie warszawa', null, 'city:PL/Warszawa', 3),
  ('targowek', null, 'city:PL/Warszawa', 3),
  ('bialoleka', null, 'city:PL/Warszawa', 3),
  ('cracow', null, 'city:PL/Kraków', 3),
  ('krakau', null, 'city:PL/Kraków', 3),
  ('cracovie', null, 'city:PL/Kraków', 3),
  ('cracovia', null, 'city:PL/Kraków', 3),
  ('podgorze', null, 'city:PL/Kraków', 3),
  ('nowa huta', null, 'city:PL/Kraków', 3),
  ('debniki', null, 'city:PL/Kraków', 3),
  ('krowodrza', null, 'city:PL/Kraków', 3),
  ('zwierzyniec krakow', null, 'city:PL/Kraków', 3),
  ('bronowice', null, 'city:PL/Kraków', 3),
  ('pradnik', null, 'city:PL/Kraków', 3),
  ('breslau', null, 'city:PL/Wrocław', 3),
  ('krzyki', null, 'city:PL/Wrocław', 3),
  ('nadodrze', null, 'city:PL/Wrocław', 3),
  ('biskupin', null, 'city:PL/Wrocław', 3),
  ('psie pole', null, 'city:PL/Wrocław', 3),
  ('srodmiescie wroclaw', null, 'city:PL/Wrocław', 3),
  ('fabryczna wroclaw', null, 'city:PL/Wrocław', 3),
  ('breslavia', null, 'city:PL/Wrocław', 3),
  ('danzig', null, 'city:PL/Gdańsk', 3),
  ('wrzeszcz', null, 'city:PL/Gdańsk', 3),
  ('oliwa', null, 'city:PL/Gdańsk', 3),
  ('zaspa gdansk', null, 'city:PL/Gdańsk', 3),
  ('przymorze', null, 'city:PL/Gdańsk', 3),
  ('danzica', null, 'city:PL/Gdańsk', 3),
  ('posen', null, 'city:PL/Poznań', 3),
  ('jezyce', null, 'city:PL/Poznań', 3),
  ('wilda', null, 'city:PL/Poznań', 3),
  ('grunwald poznan', null, 'city:PL/Poznań', 3),
  ('rataje', null, 'city:PL/Poznań', 3),
  ('winogrady', null, 'city:PL/Poznań', 3),
  ('lazarz', null, 'city:PL/Poznań', 3),
  ('lodz', null, 'city:PL/Łódź', 3),
  ('baluty', null, 'city:PL/Łódź', 3),
  ('widzew', null, 'city:PL/Łódź', 3),
  ('polesie lodz', null, 'city:PL/Łódź', 3),
  ('stettin', null, 'city:PL/Szczecin', 3),
  ('pogodno', null, 'city:PL/Szczecin', 3),
  ('niebuszewo', null, 'city:PL/Szczecin', 3),
  ('ligota', null, 'city:PL/Katowice', 3),
  ('nikiszowiec', null, 'city:PL/Katowice', 3),
  ('kattowitz', null, 'city:PL/Katowice', 3),
  ('zaleze', null, 'city:PL/Katowice', 3),
  ('czechow lublin', null, 'city:PL/Lublin', 3),
  ('kalinowszczyzna', null, 'city:PL/Lublin', 3),
  ('lsm lublin', null, 'city:PL/Lublin', 3),
  ('prague', null, 'city:CZ/Praha', 3),
  ('prag', null, 'city:CZ/Praha', 3),
  ('praga ceska', null, 'city:CZ/Praha', 3),
  ('vinohrady', null, 'city:CZ/Praha', 3),
  ('zizkov', null, 'city:CZ/Praha', 3),
  ('karlin', null, 'city:CZ/Praha', 3),
  ('smichov', null, 'city:CZ/Praha', 3),
  ('holesovice', null, 'city:CZ/Praha', 3),
  ('vrsovice', null, 'city:CZ/Praha', 3),
  ('praag', null, 'city:CZ/Praha', 3),
  ('copenhagen', null, 'city:DK/København', 3),
  ('kopenhagen', null, 'city:DK/København', 3),
  ('norrebro', null, 'city:DK/København', 3),
  ('vesterbro', null, 'city:DK/København', 3),
  ('osterbro', null, 'city:DK/København', 3),
  ('amager', null, 'city:DK/København', 3),
  ('frederiksberg', null, 'city:DK/København', 3),
  ('copenhague', null, 'city:DK/København', 3),
  ('kopenhaga', null, 'city:DK/København', 3),
  ('copenaghen', null, 'city:DK/København', 3),
  ('sodermalm', null, 'city:SE/Stockholm', 3),
  ('vasastan', null, 'city:SE/Stockholm', 3),
  ('ostermalm', null, 'city:SE/Stockholm', 3),
  ('kungsholmen', null, 'city:SE/Stockholm', 3),
  ('estocolmo', null, 'city:SE/Stockholm', 3),
  ('stoccolma', null, 'city:SE/Stockholm', 3),
  ('sztokholm', null, 'city:SE/Stockholm', 3),
  ('hammarby', null, 'city:SE/Stockholm', 3),
  ('gothenburg', null, 'city:SE/Göteborg', 3),
  ('majorna', null, 'city:SE/Göteborg', 3),
  ('linne goteborg', null, 'city:SE/Göteborg', 3),
  ('goteborg', null, 'city:SE/Göteborg', 3),
  ('grunerlokka', null, 'city:NO/Oslo', 3),
  ('majorstuen', null, 'city:NO/Oslo', 3),
  ('frogner', null, 'city:NO/Oslo', 3),
  ('gronland oslo', null, 'city:NO/Oslo', 3),
  ('kallio', null, 'city:FI/Helsinki', 3),
  ('helsinki kallio', null, 'city:FI/Helsinki', 3),
  ('toolo', null, 'city:FI/Helsinki', 3),
  ('helsinque', null, 'city:FI/Helsinki', 3),
  ('helsingfors', null, 'city:FI/Helsinki', 3),
  ('erzsebetvaros', null, 'city:HU/Budapest', 3),
  ('ferencvaros', null, 'city:HU/Budapest', 3),
  ('athen', null, 'city:GR/Athens', 3),
  ('athenes', null, 'city:GR/Athens', 3),
  ('atenas', null, 'city:GR/Athens', 3),
  ('exarchia', null, 'city:GR/Athens', 3),
  ('koukaki', null, 'city:GR/Athens', 3),
  ('atene', null, 'city:GR/Athens', 3),
  ('ateny', null, 'city:GR/Athens', 3),
  ('shibuya', null, 'city:JP/Tokyo', 3),
  ('shinjuku', null, 'city:JP/Tokyo', 3),
  ('setagaya', null, 'city:JP/Tokyo', 3),
  ('shimokitazawa', null, 'city:JP/Tokyo', 3),
  ('meguro', null, 'city:JP/Tokyo', 3),
  ('nakano tokyo', null, 'city:JP/Tokyo', 3),
  ('tokio', null, 'city:JP/Tokyo', 3),
  ('kadikoy', null, 'city:TR/Istanbul', 3),
  ('besiktas', null, 'city:TR/Istanbul', 3),
  ('beyoglu', null, 'city:TR/Istanbul', 3),
  ('cihangir', null, 'city:TR/Istanbul', 3),
  ('estambul', null, 'city:TR/Istanbul', 3),
  ('uskudar', null, 'city:TR/Istanbul', 3),
  ('bucharest', null, 'city:RO/București', 3),
  ('bukarest', null, 'city:RO/București', 3),
  ('bucarest', null, 'city:RO/București', 3),
  ('bukareszt', null, 'city:RO/București', 3),
  ('estrela', null, 'city:PT/Lisboa', 1),
  ('anjos', null, 'city:PT/Lisboa', 1),
  ('bonfim', null, 'city:PT/Porto', 1),
  ('kazimierz', null, 'city:PL/Kraków', 1),
  ('bh', null, 'city:BR/Belo Horizonte', 1),
  ('krakowie', null, 'city:PL/Kraków', 3),
  ('krakowa', null, 'city:PL/Kraków', 3),
  ('warszawie', null, 'city:PL/Warszawa', 3),
  ('warszawy', null, 'city:PL/Warszawa', 3),
  ('poznaniu', null, 'city:PL/Poznań', 3),
  ('poznania', null, 'city:PL/Poznań', 3),
  ('wroclawiu', null, 'city:PL/Wrocław', 3),
  ('wroclawia', null, 'city:PL/Wrocław', 3),
  ('gdansku', null, 'city:PL/Gdańsk', 3),
  ('gdanska', null, 'city:PL/Gdańsk', 3),
  ('lodzi', null, 'city:PL/Łódź', 3),
  ('katowicach', null, 'city:PL/Katowice', 3),
  ('szczecinie', null, 'city:PL/Szczecin', 3),
  ('szczecina', null, 'city:PL/Szczecin', 3),
  ('bydgoszczy', null, 'city:PL/Bydgoszcz', 3),
  ('bialymstoku', null, 'city:PL/Białystok', 3),
  ('bialegostoku', null, 'city:PL/Białystok', 3),
  ('rzeszowie', null, 'city:PL/Rzeszów', 3),
  ('rzeszowa', null, 'city:PL/Rzeszów', 3),
  ('toruniu', null, 'city:PL/Toruń', 3),
  ('torunia', null, 'city:PL/Toruń', 3),
  ('kielcach', null, 'city:PL/Kielce', 3),
  ('kielc', null, 'city:PL/Kielce', 3),
  ('olsztynie', null, 'city:PL/Olsztyn', 3),
  ('olsztyna', null, 'city:PL/Olsztyn', 3),
  ('opolu', null, 'city:PL/Opole', 3),
  ('opola', null, 'city:PL/Opole', 3),
  ('gliwicach', null, 'city:PL/Gliwice', 3),
  ('gliwic', null, 'city:PL/Gliwice', 3),
  ('gdyni', null, 'city:PL/Gdynia', 3),
  ('sopocie', null, 'city:PL/Sopot', 3),
  ('sopotu', null, 'city:PL/Sopot', 3),
  ('czestochowie', null, 'city:PL/Częstochowa', 3),
  ('czestochowy', null, 'city:PL/Częstochowa', 3),
  ('radomiu', null, 'city:PL/Radom', 3),
  ('radomia', null, 'city:PL/Radom', 3),
  ('zakopanem', null, 'city:PL/Zakopane', 3),
  ('lublinie', null, 'city:PL/Lublin', 3),
  ('lublina', null, 'city:PL/Lublin', 3),
  ('zielonej gorze', null, 'city:PL/Zielona Góra', 3),
  ('bielsku bialej', null, 'city:PL/Bielsko-Biała', 3),
  ('bielsku', null, 'city:PL/Bielsko-Biała', 3),
  ('tychach', null, 'city:PL/Tychy', 3),
  ('zabrzu', null, 'city:PL/Zabrze', 3),
  ('bytomiu', null, 'city:PL/Bytom', 3),
  ('elblagu', null, 'city:PL/Elbląg', 3),
  ('plocku', null, 'city:PL/Płock', 3),
  ('koszalinie', null, 'city:PL/Koszalin', 3),
  ('tarnowie', null, 'city:PL/Tarnów', 3),
  ('kaliszu', null, 'city:PL/Kalisz', 3),
  ('legnicy', null, 'city:PL/Legnica', 3),
  ('nowym saczu', null, 'city:PL/Nowy Sącz', 3),
  ('philly', null, 'place:US', 3),
  ('bcn', null, 'place:ES', 3),
  ('ffm', null, 'place:DE', 3),
  ('sampa', null, 'place:BR', 3),
  ('frankfurt a m', null, 'place:DE', 3),
  ('frankfurt main', null, 'place:DE', 3),
  ('hanover germany', null, 'place:DE', 3),
  ('freiburg im breisgau', null, 'place:DE', 3),
  ('ginevra', null, 'place:CH', 3),
  ('ginebra', null, 'place:CH', 3),
  ('basle', null, 'place:CH', 3),
  ('berne', null, 'place:CH', 3),
  ('parigi', null, 'place:FR', 3),
  ('parys', null, 'place:FR', 3),
  ('lyons', null, 'place:FR', 3),
  ('lione', null, 'place:FR', 3),
  ('marsiglia', null, 'place:FR', 3),
  ('marsella', null, 'place:FR', 3),
  ('tolosa', null, 'place:FR', 3),
  ('burdeos', null, 'place:FR', 3),
  ('strassburg', null, 'place:FR', 3),
  ('estrasburgo', null, 'place:FR', 3),
  ('rijsel', null, 'place:FR', 3),
  ('nizza', null, 'place:FR', 3),
  ('brussele', null, 'place:BE', 3),
  ('bruselas', null, 'place:BE', 3),
  ('bruksela', null, 'place:BE', 3),
  ('anvers', null, 'place:BE', 3),
  ('amberes', null, 'place:BE', 3),
  ('brugia', null, 'place:BE', 3),
  ('luttich', null, 'place:BE', 3),
  ('lieja', null, 'place:BE', 3),
  ('louvain', null, 'place:BE', 3),
  ('barcellona', null, 'place:ES', 3),
  ('siviglia', null, 'place:ES', 3),
  ('sewilla', null, 'place:ES', 3),
  ('seviglia', null, 'place:ES', 3),
  ('saragossa', null, 'place:ES', 3),
  ('saragozza', null, 'place:ES', 3),
  ('coruna', null, 'place:ES', 3),
  ('mailand', null, 'place:IT', 3),
  ('milao', null, 'place:IT', 3),
  ('mediolan', null, 'place:IT', 3),
  ('milaan', null, 'place:IT', 3),
  ('turyn', null, 'place:IT', 3),
  ('neapel', null, 'place:IT', 3),
  ('neapol', null, 'place:IT', 3),
  ('napels', null, 'place:IT', 3),
  ('napoles', null, 'place:IT', 3),
  ('florenz', null, 'place:IT', 3),
  ('florencia', null, 'place:IT', 3),
  ('florencja', null, 'place:IT', 3),
  ('florenca', null, 'place:IT', 3),
  ('bolonia', null, 'place:IT', 3),
  ('venedig', null, 'place:IT', 3),
  ('venecia', null, 'place:IT', 3),
  ('venise', null, 'place:IT', 3),
  ('wenecja', null, 'place:IT', 3),
  ('veneza', null, 'place:IT', 3),
  ('genua', null, 'place:IT', 3),
  ('padoue', null, 'place:IT', 3),
  ('triest', null, 'place:IT', 3),
  ('bozen', null, 'place:IT', 3),
  ('trient', null, 'place:IT', 3),
  ('rzym', null, 'place:IT', 3),
  ('lissabon', null, 'place:PT', 3),
  ('lisbonne', null, 'place:PT', 3),
  ('lisbona', null, 'place:PT', 3),
  ('lizbona', null, 'place:PT', 3),
  ('oporto', null, 'place:PT', 3),
  ('s gravenhage', null, 'place:NL', 3),
  ('la haye', null, 'place:NL', 3),
  ('la haya', null, 'place:NL', 3),
  ('l aia', null, 'place:NL', 3),
  ('warschau', null, 'place:PL', 3),
  ('varsovie', null, 'place:PL', 3),
  ('varsavia', null, 'place:PL', 3),
  ('varsovia', null, 'place:PL', 3),
  ('krakau', null, 'place:PL', 3),
  ('cracovie', null, 'place:PL', 3),
  ('cracovia', null, 'place:PL', 3),
  ('breslau', null, 'place:PL', 3),
  ('breslavia', null, 'place:PL', 3),
  ('danzig', null, 'place:PL', 3),
  ('danzica', null, 'place:PL', 3),
  ('posen', null, 'place:PL', 3),
  ('stettin', null, 'place:PL', 3),
  ('kattowitz', null, 'place:PL', 3),
  ('krakowie', null, 'place:PL', 3),
  ('krakowa', null, 'place:PL', 3),
  ('warszawie', null, 'place:PL', 3),
  ('warszawy', null, 'place:PL', 3),
  ('poznaniu', null, 'place:PL', 3),
  ('poznania', null, 'place:PL', 3),
  ('wroclawiu', null, 'place:PL', 3),
  ('wroclawia', null, 'place:PL', 3),
  ('gdansku', null, 'place:PL', 3),
  ('gdanska', null, 'place:PL', 3),
  ('lodzi', null, 'place:PL', 3),
  ('katowicach', null, 'place:PL', 3),
  ('szczecinie', null, 'place:PL', 3),
  ('szczecina', null, 'place:PL', 3),
  ('bydgoszczy', null, 'place:PL', 3),
  ('bialymstoku', null, 'place:PL', 3),
  ('bialegostoku', null, 'place:PL', 3),
  ('rzeszowie', null, 'place:PL', 3),
  ('rzeszowa', null, 'place:PL', 3),
  ('toruniu', null, 'place:PL', 3),
  ('torunia', null, 'place:PL', 3),
  ('kielcach', null, 'place:PL', 3),
  ('olsztynie', null, 'place:PL', 3),
  ('opolu', null, 'place:PL', 3),
  ('gliwicach', null, 'place:PL', 3),
  ('gdyni', null, 'place:PL', 3),
  ('sopocie', null, 'place:PL', 3),
  ('czestochowie', null, 'place:PL', 3),
  ('radomiu', null, 'place:PL', 3),
  ('zakopanem', null, 'place:PL', 3),
  ('lublinie', null, 'place:PL', 3),
  ('lublina', null, 'place:PL', 3),
  ('praag', null, 'place:CZ', 3),
  ('kopenhagen', null, 'place:DK', 3),
  ('copenhague', null, 'place:DK', 3),
  ('kopenhaga', null, 'place:DK', 3),
  ('copenaghen', null, 'place:DK', 3),
  ('estocolmo', null, 'place:SE', 3),
  ('stoccolma', null, 'place:SE', 3),
  ('sztokholm', null, 'place:SE', 3),
  ('helsinque', null, 'place:FI', 3),
  ('helsingfors', null, 'place:FI', 3),
  ('athenes', null, 'place:GR', 3),
  ('atenas', null, 'place:GR', 3),
  ('atene', null, 'place:GR', 3),
  ('ateny', null, 'place:GR', 3),
  ('tokio', null, 'place:JP', 3),
  ('estambul', null, 'place:TR', 3),
  ('bukarest', null, 'place:RO', 3),
  ('bucarest', null, 'place:RO', 3),
  ('bukareszt', null, 'place:RO', 3)
on conflict do nothing;
-- Vocabulary: end

-- Finding: begin
drop function market.any_lexeme(text[]);
drop function market.query_terms(text);
drop function market.words_query(jsonb);

-- What is called differently and is the same, and places that are many countries.
--!include market/wide_place.sql
--!include market/synonym.sql
--!include market/synonym_data.sql

-- Offers are filed under the concepts they name. A generated column cannot be changed: search is made anew.
alter table market.offer add column concepts tsvector not null default '';
comment on column market.offer.concepts is 'What it names, whatever it is called: lexemes of market.synonym, kept by a trigger.';
alter table market.offer disable trigger user;
update market.offer set concepts = market.concept_vector(title, text, language);
alter table market.offer enable trigger user;
alter table market.offer drop column search;
alter table market.offer add column search tsvector not null generated always as (
    setweight(to_tsvector('simple', market.fold(title)), 'A')
    || setweight(to_tsvector(market.search_config(language), market.fold(title)), 'A')
    -- The category as one lexeme, which no word of a text can be: market.query_terms asks for it.
    || coalesce(('''' || domain || '/' || category || ''':1B')::tsvector, '')
    || concepts
    || setweight(to_tsvector('simple', market.fold(text)), 'C')
    || setweight(to_tsvector(market.search_config(language), market.fold(text)), 'C')) stored;
comment on column market.offer.search is 'Words, stems and concepts for lexical search: title A, category B, text C.';
create index offer_search_idx on market.offer using gin (search) with (fastupdate = off) where status = 'published';

alter table market.embedding_model add column search_share real not null default 1;
alter table market.embedding_model add constraint embedding_model_search_share_range check (search_share between 0 and 1);
comment on column market.embedding_model.search_share is 'What the place in the list by vector counts against the place in the list by words.';
update market.embedding_model set search_share = 0.5, match_floor = 0.35 where model = 'builtin-hash-1';
--!include market/reembedding.sql

alter table market.ask add column must_query tsquery;
comment on column market.ask.must_query is 'All of the words that an offer has to hold to meet what must be.';
comment on column market.ask.keywords_query is 'Any of the things that the keywords name, whatever they are called; made once: every new offer is held against it.';
comment on column market.ask.place_query is 'The city, else the words of the place.';

drop function market.passes(market.offer, timestamptz, text[], text[], text[], bigint, bigint, text, text, tsquery, jsonb, uuid);
--!include market/query_terms.sql
--!include market/passes.sql
--!include market/agreement.sql
-- Settings of the extension can be named once it has been loaded.
select '[1]'::public.vector(1);
--!include market/candidates.sql

create or replace function market.file_concepts() returns trigger
  language plpgsql volatile
as $$
begin
  new.concepts := market.concept_vector(new.title, new.text, new.language);
  return new;
end
$$;
comment on function market.file_concepts() is 'Files an offer under what it names.';
create or replace trigger file_concepts before insert or update of title, text, language on market.offer
  for each row execute function market.file_concepts();

-- What asks look for, by the things they name.
update market.ask a set
  keywords_query = market.subject_query(a.criteria -> 'keywords', a.title, a.language),
  exclude_query = market.exclude_query(a.criteria -> 'exclude', a.language),
  must_query = market.must_query(a.criteria -> 'must', a.language),
  place_query = market.place_query(coalesce(a.criteria -> 'location' ->> 'city', a.criteria -> 'location' ->> 'text'))
where a.read_at is not null;
-- Finding: end

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists market.search_offers(text,jsonb,halfvec,text,timestamp with time zone,uuid,integer);

drop function if exists market.classify_query(text,jsonb);

drop function if exists market.store_match(uuid,uuid,real,jsonb);

drop function if exists api.search_offers(jsonb,text,text,jsonb);

drop function if exists market.answer_search(jsonb,text,text,jsonb);

CREATE OR REPLACE FUNCTION market.read_place(places jsonb)
 RETURNS tsquery
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select string_agg('(' || q.place::text || ')', ' | ')::tsquery
    from jsonb_array_elements(coalesce(places, '[]')) as p,
    lateral (select market.place_query(coalesce(p ->> 'city', p ->> 'text')) as place) as q
    where q.place::text <> '');
end
$function$;
comment on function market.read_place(jsonb) is 'Any of the places read from a query, as a query of market.offer.place; null when there is none.';

CREATE OR REPLACE FUNCTION market.search_offers(query text, reading jsonb, filters jsonb, embedding halfvec, model text, as_of timestamp with time zone, searcher uuid, depth integer)
 RETURNS TABLE(offer_id uuid, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  -- Per term of the query: what is it, what names it in a title, what only lies in its category, how much it counts.
  terms tsquery[];
  titled tsquery[];
  classes tsquery[];
  weights real[];
  whole real;
  every tsquery;
  some_of tsquery;
  -- What was read from the query.
  in_domain text := reading ->> 'domain';
  in_category text := reading ->> 'category';
  of_kind text := reading -> 'offer_kind' ->> 'value';
  at_most bigint := round((reading -> 'price' ->> 'max')::numeric * 100);
  at_least bigint := round((reading -> 'price' ->> 'min')::numeric * 100);
  in_currency text := reading -> 'price' ->> 'currency';
  per text := reading -> 'price' ->> 'period';
  there tsquery := market.read_place(reading -> 'places');
  countries text[] := array(select p ->> 'country' from jsonb_array_elements(coalesce(reading -> 'places', '[]')) as p where p ? 'country');
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  local market.conditions;
  by_words uuid[];
  floor real;
  share real;
  -- When fewer have every word, those that have some are looked at, too: two pages.
  enough constant integer := 20;
begin
  select m.search_floor, m.search_share into floor, share from market.embedding_model m where m.model = search_offers.model;
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')', ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into terms, titled, classes, weights, whole, every, some_of
  from market.query_terms(coalesce(nullif(reading ->> 'words', ''), query), reading ->> 'language', coalesce(reading -> 'corrections', '{}')) as t;
  -- When nothing has every word, at least what is named has to be there, or lie in its category.
  some_of := coalesce(some_of || market.any_lexeme(array[in_domain || '/' || in_category]), some_of);
  if reading -> 'offer_kind' ->> 'certain' = 'true' then
    conditions.kinds := coalesce(conditions.kinds, array[of_kind]);
  end if;
  if at_most = 0 and conditions.price_max is null then
    -- Who wants it for nothing wants whatever is free.
    conditions.price_max := 0;
    some_of := null;
  end if;
  local := conditions;
  local.place := coalesce(local.place, there);
  by_words := market.worded_candidates(coalesce(every, some_of), local, depth);
  if cardinality(by_words) < enough then
    by_words := by_words || market.worded_candidates(some_of, local, depth);
  end if;
  if cardinality(by_words) < enough and there is not null then
    -- Those of which nobody knows the city.
    by_words := by_words || market.worded_candidates(some_of, conditions, depth);
  end if;

  return query
  with worded as (
    select c.id, row_number() over (order by c.strength desc, c.density desc, c.id desc) as rank
    from (
      select o.id, r.density, r.coverage + least(r.density, 1) * 0.1 + 0.3 * a.place + 0.1 * a.price
        + market.class_agreement(o, in_domain, in_category, of_kind) as strength
      from market.offer o
      -- search || '' is a copy out of the compressed row: each term would unpack it anew, which was half of the ranking.
      cross join lateral (select o.search || '' as search offset 0) as w
      cross join lateral (
        select sum(weights[i] * case when w.search @@ titled[i] then 1 when w.search @@ terms[i] then 0.8
            when w.search @@ classes[i] then 0.25 else 0 end) / whole as coverage,
          sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)) as density
        from generate_subscripts(terms, 1) as i) as r
      cross join lateral (
        select market.place_agreement(o, there, countries) as place,
          market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
      where o.id = any (by_words) and a.place is not null and a.price is not null) as c
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance
      - 0.5 * market.class_agreement(o, in_domain, in_category, of_kind) - 0.05 * a.price, n.offer_id desc) as rank
    from market.near_candidates(search_offers.embedding, search_offers.model, local) as n
    join market.offer o on o.id = n.offer_id
    cross join lateral (select market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
    where 1 - n.distance >= floor and a.price is not null
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + coalesce(share / (60 + s.rank), 0))::double precision / ((1 + coalesce(share, 0)) / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$function$;
comment on function market.search_offers(text,jsonb,jsonb,halfvec,text,timestamp with time zone,uuid,integer) is 'Published offers that pass the filters and answer the query, as it was read, by words or by meaning, with a relevance of 0 to 1. About `depth` by words and 100 by vector.';

CREATE OR REPLACE FUNCTION market.browse_offers(filters jsonb, as_of timestamp with time zone, searcher uuid, sort text, after jsonb, candidates integer)
 RETURNS TABLE(offer_id uuid, sort_key numeric)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  -- Prices go with categories: by the index of prices the cheapest of 7,000 flats came after all that is cheaper (160 ms
  -- on 100,000 offers), sorted after the filter it takes 15 ms. The sum keeps the planner from that index.
  narrowed boolean := conditions.domains is not null or conditions.categories is not null or conditions.place is not null;
  after_id uuid := (after ->> 'id')::uuid;
  after_time timestamptz := (after ->> 'time')::timestamptz;
  after_price bigint := (after ->> 'price')::bigint;
begin
  if sort = 'newest' then
    return query
    select o.id, extract(epoch from o.published_at) from market.offer o
    where market.passes(o, conditions)
      and (after is null or (o.published_at, o.id) < (after_time, after_id))
    order by o.published_at desc, o.id desc limit candidates;
  elsif sort = 'price_asc' then
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, conditions)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) > (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end, o.id limit candidates;
  else
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, conditions)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) < (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end desc, o.id desc limit candidates;
  end if;
end
$function$;
comment on function market.browse_offers(jsonb,timestamp with time zone,uuid,text,jsonb,integer) is 'Published offers that pass the filters, without a query, in the order asked for, after a position.';

CREATE OR REPLACE FUNCTION market.left_open(reading jsonb, filters jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  -- What a filter says holds, whatever the query says.
  return jsonb_strip_nulls(coalesce(reading, '{}'))
    - case when filters ? 'offer_kind' then 'offer_kind' else '' end
    - case when filters ? 'location' then 'places' else '' end
    - case when filters -> 'price' ?| array['min', 'max', 'currency'] then 'price' else '' end
    - case when filters ?| array['domain', 'category'] and (
        not coalesce(reading ->> 'domain' = any (market.text_array(filters -> 'domain')), true)
        or not coalesce(reading ->> 'category' = any (market.text_array(filters -> 'category')), true)) then 'domain' else '' end;
end
$function$;
comment on function market.left_open(jsonb,jsonb) is 'A reading of a query without what the filters say otherwise.';

CREATE OR REPLACE FUNCTION market.classify_query(reading jsonb, filters jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  domains text[] := coalesce(market.text_array(filters -> 'domain'), market.text_array(reading -> 'domain'));
  categories text[] := coalesce(market.text_array(filters -> 'category'),
    case when reading ? 'domain' then market.text_array(reading -> 'category') end);
  kinds text[] := coalesce(market.text_array(filters -> 'offer_kind'),
    case when reading -> 'offer_kind' ->> 'certain' = 'true' then market.text_array(reading -> 'offer_kind' -> 'value') end);
begin
  if cardinality(domains) is distinct from 1 and cardinality(kinds) is distinct from 1 then
    return null;
  end if;
  return jsonb_build_object(
    'domain', case when cardinality(domains) = 1 then domains[1] end,
    'category', case when cardinality(domains) = 1 and cardinality(categories) = 1 then categories[1] end,
    'kind', case when cardinality(kinds) = 1 then kinds[1] end);
end
$function$;
comment on function market.classify_query(jsonb,jsonb) is 'domain, category and kind of a search, null where its filters and query do not say one; null when nothing is certain.';

CREATE OR REPLACE FUNCTION market.reading_notices(reading jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  kind text := case when reading -> 'offer_kind' ->> 'certain' = 'true' then
    case reading -> 'offer_kind' ->> 'value' when 'sale' then 'things for sale' when 'rental' then 'rentals'
      when 'service_offer' then 'services' when 'project_hire' then 'jobs' when 'dating' then 'dating'
      when 'friendship' then 'friendships and activities' end end;
  place text := (select string_agg(p ->> 'text', ' or ') from jsonb_array_elements(reading -> 'places') as p);
  price jsonb := reading -> 'price';
  said text[] := array_remove(array[
    'only ' || kind, 'in ' || place,
    case when (price ->> 'max')::numeric = 0 then 'free of charge'
      when price ? 'max' and price ? 'currency' then 'up to ' || concat_ws(' ', price ->> 'max', price ->> 'currency')
      when price ? 'min' and price ? 'currency' then 'from ' || concat_ws(' ', price ->> 'min', price ->> 'currency') end], null);
begin
  return case when cardinality(said) > 0 then jsonb_build_array(jsonb_build_object('code', 'read_from_query', 'summary',
      format('Read from the query: %s. What is surely something else was left out; send filters to say it otherwise.', array_to_string(said, ', '))))
    else '[]' end
    || case when reading -> 'corrections' <> '{}' then jsonb_build_array(jsonb_build_object('code', 'spelling', 'summary',
      format('Searched for what was probably meant, too: %s.', (select string_agg(c.value, ', ') from jsonb_each_text(reading -> 'corrections') as c))))
    else '[]' end;
end
$function$;
comment on function market.reading_notices(jsonb) is 'What of a query was taken as a filter or for a slip of the pen: notices for the answer.';

CREATE OR REPLACE FUNCTION market.can_answer(ask market.ask, offer market.offer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  -- The hard criteria, as far as they are cheap. Written to be inlined: it is asked of every ask of the same kind and domain.
  select ask.status = 'active' and ask.read_at is not null and ask.domain is not null
    and offer.account_id is distinct from ask.account_id
    and not coalesce(offer.price_hundredths > ask.price_max_hundredths and offer.price_currency = ask.price_currency
      and coalesce(offer.price_period = ask.criteria -> 'price' ->> 'period', true), false)
    and (ask.exclude_query is null or not offer.search @@ ask.exclude_query)
    and (ask.place_query is null or offer.location_text is null or offer.place @@ ask.place_query
      -- Nobody knows the city, it can be sent within the country, or it is done from afar.
      or offer.metadata @> '{"location": {"remote": true}}' and ask.criteria @> '{"location": {"remote": true}}'
      or offer.metadata -> 'location' ->> 'city' is null
      or offer.metadata -> 'location' ->> 'country' = ask.criteria -> 'location' ->> 'country')
$function$;
comment on function market.can_answer(market.ask,market.offer) is 'Whether nothing hard stands between an ask and an offer of the right kind; market.judge knows more.';

CREATE OR REPLACE FUNCTION market.judge(ask market.ask, offer market.offer, similarity real, floor real)
 RETURNS TABLE(score real, reasons jsonb)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  wanted_place jsonb := ask.criteria -> 'location';
  found_place jsonb := offer.metadata -> 'location';
  by_category text;
  by_words text;
  by_place text;
  by_price text;
  by_condition text;
  by_musts text;
  by_attributes text;
  foreign_money boolean;
  -- Without a vector nothing is near: then words have to do.
  near boolean := coalesce(similarity >= floor, false);
  very_near boolean := coalesce(similarity >= 1.5 * floor, false);
begin
  -- Without a kind or a subject an ask matches nothing: better no answer than a wrong one.
  if offer.offer_kind is null or ask.domain is null or not exists (
    select from market.ask_kind k where k.ask_kind = ask.ask_kind and offer.offer_kind = any (k.answered_by))
  then
    return;
  end if;

  -- Converted never: another currency cannot be compared. Nor is a day's rent held against a month's.
  foreign_money := ask.price_max_hundredths is not null and offer.price_hundredths > 0 and offer.price_currency is distinct from ask.price_currency;
  by_price := case
    when ask.price_max_hundredths is null then null
    when offer.price_hundredths is null or foreign_money then 'unknown'
    when offer.price_hundredths = 0 then 'met'
    when offer.price_period <> ask.criteria -> 'price' ->> 'period' then 'unknown'
    when offer.price_hundredths <= ask.price_max_hundredths then 'met'
    else 'violated' end;
  if by_price = 'violated' or ask.exclude_query is not null and offer.search @@ ask.exclude_query then
    return;
  end if;

  by_place := case
    when ask.place_query is null then null
    when offer.location_text is null then 'unknown'
    when offer.place @@ ask.place_query or found_place @> '{"remote": true}' and wanted_place @> '{"remote": true}' then 'met'
    when found_place ->> 'country' <> wanted_place ->> 'country' then 'violated'
    -- A quarter whose city is not known may lie in the city that is wanted.
    when found_place ->> 'city' is null then 'unknown'
    else 'violated' end;
  -- Elsewhere is no answer, but for goods that are sent, within the country and for good. And nothing in another currency
  -- answers from a place that nobody knows: it would be a hit by its words alone.
  if by_place = 'violated' and (foreign_money or offer.offer_kind <> 'sale' or offer.domain = 'real_estate'
      or found_place ->> 'country' is distinct from wanted_place ->> 'country' or not market.is_sent(offer.search))
    or by_place = 'unknown' and foreign_money
  then
    return;
  end if;

  by_category := case
    when ask.category is null or offer.category is null then 'unknown'
    when (ask.domain, ask.category) = (offer.domain, offer.category) then 'met'
    else 'violated' end;
  by_words := case
    when ask.keywords_query is null then null
    when offer.search @@ ask.keywords_query then 'met'
    else 'violated' end;
  -- The subject: in the right category, a shared word or a near vector; elsewhere both have to agree.
  if (case by_category
    when 'met' then coalesce(by_words, 'met') = 'violated' and not near
    when 'unknown' then coalesce(by_words, 'violated') = 'violated' and not very_near
    else coalesce(by_words, 'violated') = 'violated' or not very_near
      or ask.domain is distinct from offer.domain end) then
    return;
  end if;

  by_condition := case
    when ask.criteria ->> 'condition' is null then null
    when offer.metadata ->> 'condition' is null then 'unknown'
    when offer.metadata ->> 'condition' = ask.criteria ->> 'condition' then 'met'
    else 'violated' end;

  -- What a text does not say may still be so: unknown.
  by_musts := case when ask.must_query is null then null when offer.search @@ ask.must_query then 'met' else 'unknown' end;
  if ask.criteria -> 'attributes' <> '{}' then
    by_attributes := (
      select case when bool_or(f.value <> w.value) then 'violated' when bool_and(coalesce(f.value = w.value, false)) then 'met' else 'unknown' end
      from (select w.name, market.fold(w.value) as value from jsonb_each_text(ask.criteria -> 'attributes') as w (name, value)) as w
      cross join lateral (select market.fold(offer.metadata -> 'attributes' ->> w.name) as value) as f);
  end if;

  score := greatest(0, least(1, 0.35 + 0.3 * least(greatest(coalesce(similarity, 0), 0) / 0.6, 1)
    + case by_category when 'met' then 0.15 else 0 end
    + case by_words when 'met' then 0.1 else 0 end
    + case by_place when 'met' then 0.05 when 'violated' then -0.2 else 0 end
    + case by_price when 'met' then 0.05 else 0 end
    + case by_condition when 'violated' then -0.1 else 0 end
    + case by_musts when 'met' then 0.05 else 0 end
    + case by_attributes when 'met' then 0.05 when 'violated' then -0.1 else 0 end));
  reasons := (
    select jsonb_agg(jsonb_build_object('criterion', r.criterion, 'verdict', r.verdict, 'wanted', r.wanted, 'found', r.found) order by r.n)
    from (values
      (1, 'kind', 'met', to_jsonb(ask.ask_kind), to_jsonb(offer.offer_kind)),
      (2, 'category', by_category, to_jsonb(concat_ws('/', ask.domain, ask.category)), to_jsonb(concat_ws('/', offer.domain, offer.category))),
      (3, 'keywords', by_words, ask.criteria -> 'keywords', to_jsonb(offer.title)),
      (4, 'price', by_price, ask.criteria -> 'price', offer.metadata -> 'pricing' -> 'label'),
      (5, 'location', by_place, ask.criteria -> 'location' -> 'text', to_jsonb(offer.location_text)),
      (6, 'condition', by_condition, ask.criteria -> 'condition', offer.metadata -> 'condition'),
      (7, 'exclude', case when ask.exclude_query is not null then 'met' end, ask.criteria -> 'exclude', null),
      (8, 'must', by_musts, ask.criteria -> 'must', null),
      (9, 'attributes', by_attributes, ask.criteria -> 'attributes', offer.metadata -> 'attributes')
    ) as r (n, criterion, verdict, wanted, found)
    where r.verdict is not null);
  return next;
end
$function$;
comment on function market.judge(market.ask,market.offer,real,real) is 'Whether and how well an offer answers an ask: no row when it does not, else a score of 0 to 1 and the verdict on every criterion.';

CREATE OR REPLACE FUNCTION market.is_sent(search tsvector)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select search @@ '''concept/sent'''::tsquery and not search @@ (
    '(no|not|kein|keinen|pas|sans|sem|sin|senza|niente|geen|nie|bez) <->
      (shipping|postage|posting|post|delivery|versand|envoi|livraison|envio|envios|spedizione|spedisco|verzending|wysylki|wysylam)
    | (collection|pickup|collect|recogida|ritiro|recolha|ophalen) <-> only
    | (nur|solo|so|seulement|alleen|tylko) <-> (abholung|selbstabholer|selbstabholung|recogida|ritiro|recolha|ophalen|odbior)')::tsquery
$function$;
comment on function market.is_sent(tsvector) is 'Whether an offer says that the thing is sent, by its words and concepts (market.offer.search).';

CREATE OR REPLACE FUNCTION market.match_ask(ask_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  ask market.ask;
  vector record;
  answered uuid[];
begin
  -- The row is the lock: matches of one ask are written one after another, so sequences grow in the order of commits.
  select * into ask from market.ask a where a.id = match_ask.ask_id for no key update;
  if ask.id is null or ask.status <> 'active' or ask.read_at is null then
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.ask_embedding e join market.embedding_model m on m.model = e.model
  where e.ask_id = ask.id and to_jsonb(e.model) = market.setting('embedding_model');
  with judged as (
    select o.id, j.score, j.reasons
    from market.answering_candidates(ask, vector.embedding, vector.model) as c
    join market.offer o on o.id = c.offer_id
    left join market.offer_embedding e on e.offer_id = o.id and e.model = vector.model
    cross join lateral market.judge(ask, o,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where o.account_id is distinct from ask.account_id
    order by j.score desc, o.id
    limit 100
  ), stored as (
    insert into market.match as m (ask_id, offer_id, score, reasons)
    select ask.id, g.id, g.score, g.reasons from judged g
    on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
    where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
  )
  select array_agg(g.id) into answered from judged g;
  -- What a changed text no longer wants is forgotten.
  delete from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'));
end
$function$;
comment on function market.match_ask(uuid) is 'Holds one ask against the market; its matches are then exactly the best hundred offers that answer it.';

CREATE OR REPLACE FUNCTION market.answering_candidates(ask market.ask, near halfvec, model text)
 RETURNS TABLE(offer_id uuid)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  conditions market.conditions := market.conditions_of(
    jsonb_build_object('offer_kind', (select to_jsonb(k.answered_by) from market.ask_kind k where k.ask_kind = ask.ask_kind)),
    'infinity', null);
begin
  if ask.ask_kind is null or ask.domain is null then
    return;
  end if;
  conditions.domains := array[ask.domain];
  -- Newest first by its words where it is wanted, then anywhere; by its category where no words were read; and what is near.
  return query
  select unnest(market.worded_candidates(
    coalesce(ask.keywords_query, market.any_lexeme(array[ask.domain || '/' || ask.category])), c.conditions, 300))
  from (
    select (conditions.as_of, conditions.domains, conditions.categories, conditions.kinds, null, null, null, null,
      p.place, conditions.filters, null)::market.conditions as conditions
    from (values (ask.place_query), (null::tsquery)) as p (place)) as c
  union
  select n.offer_id from market.near_candidates(near, answering_candidates.model, conditions) as n;
end
$function$;
comment on function market.answering_candidates(market.ask,halfvec,text) is 'Live offers of the right kind and domain that share a word with an ask or lie near it.';

CREATE OR REPLACE FUNCTION market.match_offer(offer_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  offer market.offer;
  vector record;
  answered uuid[];
begin
  select * into offer from market.offer o where o.id = match_offer.offer_id and o.status = 'published';
  if offer.id is null or offer.offer_kind is null then
    delete from market.match m where m.offer_id = match_offer.offer_id;
    return;
  end if;
  -- A copy out of the compressed row: each ask would unpack it anew.
  offer.search := offer.search || '';
  select e.embedding, e.model, m.match_floor into vector
  from market.offer_embedding e join market.embedding_model m on m.model = e.model
  where e.offer_id = offer.id and to_jsonb(e.model) = market.setting('embedding_model');
  -- Judged under their locks, which makes sequences grow in the order of commits; locked in the order of ids, so that two
  -- offers that meet at the same asks do not wait for each other.
  with locked as materialized (
    select a as ask from market.ask a
    where a.ask_kind = any (array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by)))
      and a.domain = offer.domain and market.can_answer(a, offer)
      -- What matched once is judged again, whether or not the ask goes on watching.
      and (a.watch_enabled or exists (select from market.match m where m.ask_id = a.id and m.offer_id = offer.id))
      -- Without a shared word it has to lie in the category and near.
      and (offer.search @@ a.keywords_query or (a.category = offer.category or a.category is null or offer.category is null)
        and (a.keywords_query is null or exists (
          select from market.ask_embedding e
          where e.ask_id = a.id and e.model = vector.model
            and 1 - (e.embedding operator(public.<=>) vector.embedding) >= vector.match_floor)))
    order by a.id for no key update
  ), judged as materialized (
    select (l.ask).id, j.score, j.reasons
    from locked l
    left join market.ask_embedding e on e.ask_id = (l.ask).id and e.model = vector.model
    cross join lateral market.judge(l.ask, offer,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
  ), stored as (
    insert into market.match as m (ask_id, offer_id, score, reasons)
    select g.id, offer.id, g.score, g.reasons from judged g
    on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
    where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
  )
  select array_agg(g.id) into answered from judged g;
  -- An ask at rest keeps what it had: it catches up when it is active again.
  delete from market.match m using market.ask a
  where m.offer_id = offer.id and a.id = m.ask_id and a.status = 'active' and a.id <> all (coalesce(answered, '{}'));
end
$function$;
comment on function market.match_offer(uuid) is 'Holds one offer against every ask that watches for its kind and subject.';

CREATE OR REPLACE FUNCTION market.embedding_input(offer market.offer)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  -- The title twice: it says what the thing is.
  select offer.title || E'\n' || offer.title || E'\n' || concat_ws(' ', offer.category, offer.domain) || E'\n' || offer.text
$function$;
comment on function market.embedding_input(market.offer) is 'The words of an offer that its vector stands for.';

CREATE OR REPLACE FUNCTION jobs.get_embedding_input(id uuid)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select market.embedding_input(o) from market.offer o
  where o.id = get_embedding_input.id and o.status = 'published'
  union all
  -- An ask as it stands: it is embedded before it has been read, too.
  select a.text from market.ask a
  where a.id = get_embedding_input.id and a.status = 'active'
$function$;
comment on function jobs.get_embedding_input(uuid) is 'The words of a live offer or an active ask that its vector stands for; null when there is nothing to do.';
grant execute on function jobs.get_embedding_input(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.use_embedding_model(model text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  waiting integer;
begin
  insert into market.embedding_model (model) values (use_embedding_model.model) on conflict do nothing;
  if market.setting('embedding_model') <> to_jsonb(use_embedding_model.model) then
    update market.setting s set value = to_jsonb(use_embedding_model.model) where s.name = 'embedding_model';
  end if;
  -- One worker begins; those that start beside it find it begun.
  lock table market.reembedding in share row exclusive mode;
  update market.reembedding r set finished_at = now() where r.finished_at is null and r.model <> use_embedding_model.model;
  if not exists (select from market.reembedding r where r.finished_at is null) then
    select (
        select count(*) from market.offer o left join market.offer_embedding e on e.offer_id = o.id
        where o.status = 'published' and e.model is distinct from use_embedding_model.model)
      + (
        select count(*) from market.ask a left join market.ask_embedding e on e.ask_id = a.id
        where a.status = 'active' and a.read_at is not null and e.model is distinct from use_embedding_model.model)
    into waiting;
    if waiting > 0 then
      insert into market.reembedding (model, total) values (use_embedding_model.model, waiting);
    end if;
  end if;
  perform jobs.resume_reembedding();
end
$function$;
comment on function jobs.use_embedding_model(text) is 'Puts a model in force, and has everything embedded in the background that has no vector of it.';
grant execute on function jobs.use_embedding_model(text) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.resume_reembedding()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  resumed integer;
begin
  -- The key makes it one job, however often it is asked for.
  select count(*) into resumed
  from (select market.enqueue('reembed', r.id) from market.reembedding r where r.finished_at is null) as q;
  return resumed;
end
$function$;
comment on function jobs.resume_reembedding() is 'Sees to it that a change of model under way has a job: the last one may have failed for good. Gives how many there are.';
grant execute on function jobs.resume_reembedding() to souk_worker;

CREATE OR REPLACE FUNCTION jobs.take_batch(id uuid, size integer)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  under_way market.reembedding;
  items jsonb;
begin
  select * into under_way from market.reembedding r where r.id = take_batch.id and r.finished_at is null;
  if under_way.id is null then
    return null;
  end if;
  select jsonb_agg(jsonb_build_object('kind', 'offer', 'id', b.id, 'words', b.words) order by b.id) into items
  from (
    select o.id, market.embedding_input(o) as words
    from market.offer o left join market.offer_embedding e on e.offer_id = o.id
    where o.id > under_way.last_offer_id and o.status = 'published' and e.model is distinct from under_way.model
    order by o.id limit size) as b;
  if items is null then
    select jsonb_agg(jsonb_build_object('kind', 'ask', 'id', b.id, 'words', b.text) order by b.id) into items
    from (
      select a.id, a.text
      from market.ask a left join market.ask_embedding e on e.ask_id = a.id
      where a.id > under_way.last_ask_id and a.status = 'active' and a.read_at is not null and e.model is distinct from under_way.model
      order by a.id limit size) as b;
  end if;
  return jsonb_build_object('model', under_way.model, 'items', coalesce(items, '[]'));
end
$function$;
comment on function jobs.take_batch(uuid,integer) is 'What a change of model embeds next: {model, items: [{kind, id, words}]}; null when it is not under way.';
grant execute on function jobs.take_batch(uuid,integer) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.store_batch(id uuid, vectors jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  under_way market.reembedding;
  vector public.halfvec(512);
  item record;
  wrong integer := 0;
begin
  -- The lock keeps two workers from doing one batch twice.
  select * into under_way from market.reembedding r where r.id = store_batch.id and r.finished_at is null for update;
  if under_way.id is null then
    return null;
  end if;
  for item in
    select v ->> 'kind' as kind, (v ->> 'id')::uuid as id, v ->> 'embedding' as embedding from jsonb_array_elements(vectors) as v
  loop
    vector := market.unit_vector(item.embedding);
    wrong := wrong + (vector is null)::integer;
    if item.kind = 'offer' then
      under_way.last_offer_id := greatest(under_way.last_offer_id, item.id);
      if vector is not null then
        insert into market.offer_embedding (offer_id, model, embedding)
        select o.id, under_way.model, vector from market.offer o where o.id = item.id
        on conflict (offer_id) do update set model = excluded.model, embedding = excluded.embedding;
      end if;
    else
      -- Matched when all offers have their vectors: what it had stays until then, and is not new after it.
      under_way.last_ask_id := greatest(under_way.last_ask_id, item.id);
      perform market.store_ask_embedding(item.id, item.embedding, under_way.model) from market.ask a where a.id = item.id;
      perform market.match_ask(item.id);
    end if;
  end loop;
  update market.reembedding r set
    last_offer_id = under_way.last_offer_id, last_ask_id = under_way.last_ask_id, moved_at = clock_timestamp(),
    done = r.done + jsonb_array_length(vectors), failed = r.failed + wrong,
    finished_at = case when vectors = '[]' then clock_timestamp() end
  where r.id = under_way.id returning * into under_way;
  if under_way.finished_at is null then
    perform market.enqueue('reembed', under_way.id);
  end if;
  return jsonb_build_object('model', under_way.model, 'done', under_way.done, 'total', under_way.total,
    'failed', under_way.failed, 'finished', under_way.finished_at is not null);
end
$function$;
comment on function jobs.store_batch(uuid,jsonb) is 'Keeps the vectors of a batch, [{kind, id, embedding}], and has the next one done; an empty batch ends it. {model, done, total, failed, finished}, or null when it is not under way.';
grant execute on function jobs.store_batch(uuid,jsonb) to souk_worker;

CREATE OR REPLACE FUNCTION market.finish_ask(submission market.submission, reading jsonb, embedding text, model text, OUT status integer, OUT body jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  ask market.ask;
begin
  update market.ask a set
    text = submission.text, language = read.language, title = read.title, domain = read.domain, category = read.category,
    ask_kind = read.ask_kind, criteria = read.criteria, keywords_query = read.keywords_query,
    exclude_query = read.exclude_query, must_query = read.must_query, place_query = read.place_query, price_max_hundredths = read.price_max_hundredths,
    price_currency = read.price_currency, read_at = now(), updated_at = now()
  from market.read_ask(submission.text, finish_ask.reading) as read
  where a.id = submission.target_id and a.account_id = submission.account_id
  returning a.* into ask;
  perform market.store_ask_embedding(ask.id, finish_ask.embedding, finish_ask.model);
  -- Matched here and not by a job of its own, so that whoever reads the matches right after the answer finds them.
  perform market.match_ask(ask.id);
  status := case submission.kind when 'create_ask' then 201 else 200 end;
  body := market.ask_document(ask);
end
$function$;
comment on function market.finish_ask(market.submission,jsonb,text,text) is 'Fills in an ask by its reading and matches it: the answer''s status and body.';

CREATE OR REPLACE FUNCTION market.read_ask(text text, reading jsonb)
 RETURNS market.ask
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  ask market.ask;
  price jsonb := reading -> 'price';
  place jsonb := reading -> 'location';
begin
  ask.language := reading ->> 'language';
  ask.title := left(reading -> 'title' ->> 'value', 120);
  if not market.states_title(read_ask.text, ask.title) then
    ask.title := market.first_line(read_ask.text);
  end if;
  select d.domain into ask.domain from market.domain d where d.domain = reading -> 'domain' ->> 'value';
  select c.category into ask.category from market.category c
  where c.domain = ask.domain and c.category = reading -> 'category' ->> 'value';
  select k.ask_kind into ask.ask_kind from market.ask_kind k where k.ask_kind = reading -> 'ask_kind' ->> 'value';
  if not market.is_quoted(read_ask.text, price)
    or price -> 'value' ->> 'max' is not null
      and not market.states_amount(price ->> 'quote', (price -> 'value' ->> 'max')::numeric)
    or price -> 'value' ->> 'min' is not null
      and not market.states_amount(price ->> 'quote', (price -> 'value' ->> 'min')::numeric) then
    price := null;
  end if;
  if not market.is_quoted(read_ask.text, place)
    or position(market.fold(place -> 'value' ->> 'text') in market.fold(place ->> 'quote')) = 0 then
    place := null;
  end if;
  ask.price_max_hundredths := round((price -> 'value' ->> 'max')::numeric * 100);
  ask.price_currency := price -> 'value' ->> 'currency';
  ask.criteria := jsonb_build_object(
    'keywords', (select coalesce(jsonb_agg(k), '[]') from jsonb_array_elements(coalesce(reading -> 'keywords', '[]')) as k
      where market.states_title(read_ask.text, k #>> '{}')),
    'must', (select coalesce(jsonb_agg(m -> 'value'), '[]') from jsonb_array_elements(coalesce(reading -> 'must', '[]')) as m
      where market.is_quoted(read_ask.text, m)),
    'exclude', (select coalesce(jsonb_agg(m -> 'value'), '[]') from jsonb_array_elements(coalesce(reading -> 'exclude', '[]')) as m
      where market.is_quoted(read_ask.text, m)),
    'price', jsonb_strip_nulls(price -> 'value'),
    'location', jsonb_strip_nulls(place -> 'value'),
    'condition', case when market.is_quoted(read_ask.text, reading -> 'condition') then reading -> 'condition' -> 'value' end,
    'attributes', (select coalesce(jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'), '{}')
      from jsonb_array_elements(coalesce(reading -> 'attributes', '[]')) as a where market.is_quoted(read_ask.text, a)));
  ask.keywords_query := market.subject_query(ask.criteria -> 'keywords', ask.title, ask.language);
  ask.exclude_query := market.exclude_query(ask.criteria -> 'exclude', ask.language);
  ask.must_query := market.must_query(ask.criteria -> 'must', ask.language);
  ask.place_query := market.place_query(coalesce(place -> 'value' ->> 'city', place -> 'value' ->> 'text'));
  return ask;
end
$function$;
comment on function market.read_ask(text,jsonb) is 'What of a grounded reading counts: an ask with every column that the text decides, and nothing else set.';

CREATE OR REPLACE FUNCTION api.get_vocabulary()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$ begin return jobs.get_vocabulary(); end $function$;
comment on function api.get_vocabulary() is 'The taxonomy and the words of the market, as the reader of queries takes them.';
grant execute on function api.get_vocabulary() to souk_api;

CREATE OR REPLACE FUNCTION api.search_offers(request jsonb, reading jsonb, embedding text, model text, notices jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if market.agent_id() is null then
    perform market.fail(401, 'unauthorized', 'Call as an agent.');
  end if;
  return market.answer_search(request, reading, embedding, model, notices);
end
$function$;
comment on function api.search_offers(jsonb,jsonb,text,text,jsonb) is 'SearchResponse for a search body; reading: what was read from the query, or null; embedding: the query''s vector by that model, or null, and then notices say why.';
grant execute on function api.search_offers(jsonb,jsonb,text,text,jsonb) to souk_api;

CREATE OR REPLACE FUNCTION market.answer_search(request jsonb, reading jsonb, embedding text, model text, notices jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  query text := btrim(normalize(coalesce(request ->> 'query', ''), NFC));
  filters jsonb := coalesce(request -> 'filters', '{}');
  sort text := coalesce(request ->> 'sort', 'relevance');
  size integer := coalesce((request ->> 'limit')::integer, 10);
  -- A cursor belongs to the search it came from.
  list text := 'search ' || md5((request - 'cursor' - 'limit' - 'detail')::text);
  after jsonb := market.position_of(request ->> 'cursor', list);
  errors jsonb := market.allowed_values(request);
  as_of timestamptz := coalesce((after ->> 'as_of')::timestamptz, now());
  vector public.halfvec := case when market.setting('embedding_model') = to_jsonb(model) then market.unit_vector(embedding) end;
  before integer := coalesce((after ->> 'rank')::integer, 0);
  skip integer := case when query <> '' then before else 0 end;
  understood jsonb := market.left_open(reading, filters);
  results jsonb;
  last record;
  more boolean;
begin
  if market.account_id() is null then
    perform market.fail(401, 'unauthorized', 'Call as an agent.');
  end if;
  if jsonb_array_length(errors) > 0 then
    perform market.fail_fields(errors);
  end if;
  if query = '' and filters = '{}' then
    perform market.fail_fields('[{"pointer": "/query", "detail": "Say what to look for: a query, a filter, or both."}]');
  end if;

  -- A browsed list goes on after the last key; a ranked one is short, and goes on after the last rank.
  with ranked as (
    select s.offer_id, s.score, null::numeric as sort_key
    from market.search_offers(query, understood, filters, vector, model, as_of, market.account_id(), 200) as s
    where query <> '' and sort = 'relevance'
    union all
    select s.offer_id, s.score, case sort when 'newest' then extract(epoch from o.published_at) else o.price_hundredths end
    from market.search_offers(query, understood, filters, vector, model, as_of, market.account_id(), 1000) as s
    join market.offer o on o.id = s.offer_id
    where query <> '' and sort <> 'relevance' and (sort = 'newest' or o.price_hundredths is not null)
    union all
    select b.offer_id, 0, b.sort_key
    from market.browse_offers(filters, as_of, market.account_id(), case sort when 'relevance' then 'newest' else sort end,
      after, size + 1) as b
    where query = ''
  ), ordered as (
    select r.offer_id, r.score, row_number() over (order by
      case sort when 'relevance' then r.score end desc,
      case sort when 'price_asc' then r.sort_key end,
      case when sort <> 'price_asc' then r.sort_key end desc,
      case sort when 'price_asc' then r.offer_id end,
      r.offer_id desc) as n
    from ranked r
  ), page as (
    select p.n, p.score, o as offer
    from ordered p join market.offer o on o.id = p.offer_id
    where p.n > skip and p.n <= skip + size + 1
  )
  select
    coalesce(jsonb_agg(market.search_result(p.offer) || jsonb_build_object(
        'score', round(p.score::numeric, 4), 'rank', before - skip + p.n)
      order by p.n) filter (where p.n <= skip + size), '[]'),
    coalesce(max(p.n) > skip + size, false)
  into results, more from page p;
  if request ->> 'detail' = 'compact' then
    select coalesce(jsonb_agg(r || jsonb_build_object('metadata', null,
      'document', (r -> 'document') || jsonb_build_object('description', left(r -> 'document' ->> 'description', 200))) order by n), '[]')
    into results from jsonb_array_elements(results) with ordinality as t (r, n);
  end if;
  select o.id, o.published_at, o.price_hundredths into last
  from market.offer o where o.id = (results -> -1 ->> 'id')::uuid;

  return jsonb_build_object(
    'type', 'results', 'query', coalesce(request ->> 'query', ''),
    'classification', market.classify_query(understood, filters),
    'results', results,
    'page', market.page(jsonb_build_object('list', list, 'as_of', as_of, 'id', last.id, 'time', last.published_at,
      'price', last.price_hundredths, 'rank', results -> -1 -> 'rank'), more),
    'notices', notices || market.reading_notices(understood),
    'next', case when results = '[]' and after is null then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing is offered yet. State what the person wants as an ask, and read its matches later.',
        'method', 'POST', 'path', '/v1/asks'))
      when results = '[]' then '[]'
      else jsonb_build_array(jsonb_build_object(
        'summary', 'Read one offer in full before the person decides.',
        'method', 'GET', 'path', '/v1/offers/' || (results -> 0 ->> 'id'))) end);
end
$function$;
comment on function market.answer_search(jsonb,jsonb,text,text,jsonb) is 'The SearchResponse. Runs as its owner, since search operators are not leakproof; market.passes states who may see what.';
grant execute on function market.answer_search(jsonb,jsonb,text,text,jsonb) to souk_agent;

reset role;
