BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE bot (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_bot PRIMARY KEY (id), 
	CONSTRAINT uq_bot_name UNIQUE (name)
);
INSERT INTO "bot" VALUES(1,'Ann','2024-05-04 12:00:00.123456');
INSERT INTO "bot" VALUES(2,'Bob','2024-05-04 12:00:00.123456');
CREATE TABLE entrant (
	id INTEGER NOT NULL, 
	tournament_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	bot_id INTEGER NOT NULL, 
	version VARCHAR NOT NULL, 
	command VARCHAR NOT NULL, 
	CONSTRAINT pk_entrant PRIMARY KEY (id), 
	CONSTRAINT fk_entrant_tournament_id_tournament FOREIGN KEY(tournament_id) REFERENCES tournament (id), 
	CONSTRAINT fk_entrant_bot_id_bot FOREIGN KEY(bot_id) REFERENCES bot (id), 
	CONSTRAINT uq_entrant_tournament_id_number UNIQUE (tournament_id, number)
);
INSERT INTO "entrant" VALUES(1,1,0,1,'1.0','["./bot","Ann"]');
INSERT INTO "entrant" VALUES(2,1,1,2,'1.0','["./bot","Bob"]');
CREATE TABLE game (
	id INTEGER NOT NULL, 
	tournament_id INTEGER NOT NULL, 
	schedule_index BIGINT NOT NULL, 
	deal_group BIGINT NOT NULL, 
	rotation INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	seed BLOB NOT NULL, 
	ruleset VARCHAR NOT NULL, 
	rules_version INTEGER NOT NULL, 
	options VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	deals INTEGER NOT NULL, 
	counted_deals INTEGER NOT NULL, 
	rated BOOLEAN NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	recorded_at DATETIME NOT NULL, 
	CONSTRAINT pk_game PRIMARY KEY (id), 
	CONSTRAINT fk_game_tournament_id_tournament FOREIGN KEY(tournament_id) REFERENCES tournament (id), 
	CONSTRAINT uq_game_tournament_id_schedule_index UNIQUE (tournament_id, schedule_index), 
	CONSTRAINT ck_game_status CHECK (status IN ('finished', 'unplayed'))
);
INSERT INTO "game" VALUES(1,1,0,0,0,0,X'0000000000000000000000000000000000000000000000000000000000000000','thai',1,'{}','finished','',3,2,1,'2024-05-04 12:00:00.123456','2024-05-04 12:00:00.123456','2024-05-04 12:00:00.123456');
CREATE TABLE rating (
	variant VARCHAR NOT NULL, 
	bot_id INTEGER NOT NULL, 
	elo FLOAT NOT NULL, 
	games INTEGER NOT NULL, 
	wins INTEGER NOT NULL, 
	draws INTEGER NOT NULL, 
	losses INTEGER NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_rating PRIMARY KEY (variant, bot_id), 
	CONSTRAINT fk_rating_bot_id_bot FOREIGN KEY(bot_id) REFERENCES bot (id)
);
CREATE TABLE record (
	game_id INTEGER NOT NULL, 
	format INTEGER NOT NULL, 
	codec VARCHAR NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_record PRIMARY KEY (game_id), 
	CONSTRAINT fk_record_game_id_game FOREIGN KEY(game_id) REFERENCES game (id)
);
INSERT INTO "record" VALUES(1,1,'zlib',X'789CAB564A4FCC4D55B232A8050012830341');
CREATE TABLE seat (
	game_id INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	points INTEGER NOT NULL, 
	forfeit VARCHAR, 
	thinking BIGINT NOT NULL, 
	faults INTEGER NOT NULL, 
	CONSTRAINT pk_seat PRIMARY KEY (game_id, seat), 
	CONSTRAINT fk_seat_game_id_game FOREIGN KEY(game_id) REFERENCES game (id), 
	CONSTRAINT fk_seat_entrant_id_entrant FOREIGN KEY(entrant_id) REFERENCES entrant (id)
);
INSERT INTO "seat" VALUES(1,0,1,1,60,50,NULL,1500,1);
INSERT INTO "seat" VALUES(1,1,2,2,20,10,NULL,1500,1);
CREATE TABLE tournament (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR NOT NULL, 
	configuration VARCHAR NOT NULL, 
	schedule_seed BIGINT NOT NULL, 
	event_secret BLOB NOT NULL, 
	secret_fixed BOOLEAN NOT NULL, 
	status VARCHAR NOT NULL, 
	opened_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT uq_tournament_name UNIQUE (name), 
	CONSTRAINT ck_tournament_status CHECK (status IN ('running', 'finished'))
);
INSERT INTO "tournament" VALUES(1,'Friday','{"bots":[],"seed":7}',7,X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',0,'running','2024-05-04 12:00:00.123456',NULL);
CREATE INDEX ix_entrant_bot_id ON entrant (bot_id);
CREATE INDEX ix_seat_entrant_id ON seat (entrant_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tournament',1);
COMMIT;
