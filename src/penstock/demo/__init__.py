"""The demo application behind `penstock demo`: text in, counted words out, and a page that shows both."""
