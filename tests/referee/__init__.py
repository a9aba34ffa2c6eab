"""Tests of the referee: whole games in this process and in virtual time."""
