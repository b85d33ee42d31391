/* The plainest way to open connections one after the other, to hold an instrument against: a request
 * and its answer over each, which is then reset, so that none is left in TIME_WAIT.
 *
 *   connections server PORT BYTES CPU ADDRESS
 *   connections client PORT BYTES CPU ADDRESS COUNT
 *
 * The client prints how many of them it made in a second. The server goes on until it is killed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Source ports are drawn from here. */
enum { PORT_MIN = 20000, PORT_MAX = 61000 };

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static socklen_t parse(const char *text, int port, union address *out)
{
	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
		out->four.sin_family = AF_INET;
		out->four.sin_port = htons(port);
		return sizeof out->four;
	}
	if (inet_pton(AF_INET6, text, &out->six.sin6_addr) != 1)
		die(text);
	out->six.sin6_family = AF_INET6;
	out->six.sin6_port = htons(port);
	return sizeof out->six;
}

/* A port of either family lies at the same place. */
static void set_port(union address *of, int port)
{
	of->four.sin_port = htons(port);
}

static void get(int fd, char *at, size_t left)
{
	while (left > 0) {
		ssize_t n = recv(fd, at, left, 0);
		if (n <= 0)
			die("recv");
		at += n;
		left -= n;
	}
}

static void put(int fd, const char *at, size_t left)
{
	if (send(fd, at, left, MSG_NOSIGNAL) != (ssize_t)left)
		die("send");
}

static void serve(const union address *at, socklen_t length, char *message, int bytes)
{
	int on = 1, listener = socket(at->any.sa_family, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, &at->any, length) || listen(listener, 1024))
		die("listen");
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			die("accept");
		get(fd, message, bytes);
		put(fd, message, bytes);
		close(fd);
	}
}

/* This host's address towards the server, by asking the kernel once. */
static void local(const union address *to, socklen_t length, union address *from)
{
	socklen_t size = sizeof *from;
	int fd = socket(to->any.sa_family, SOCK_DGRAM, 0);
	if (connect(fd, &to->any, length) || getsockname(fd, &from->any, &size))
		die("local");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 6)
		return 2;
	int server = !strcmp(argv[1], "server"), bytes = atoi(argv[3]);
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[4]), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		die("sched_setaffinity");
	union address to, from;
	socklen_t length = parse(argv[5], atoi(argv[2]), &to);
	char *message = calloc(1, bytes);
	if (server)
		serve(&to, length, message, bytes);
	local(&to, length, &from);
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	int count = atoi(argv[6]), on = 1;
	srandom(getpid());
	double start = now();
	for (int done = 0; done < count;) {
		int fd = socket(to.any.sa_family, SOCK_STREAM, 0);
		if (fd < 0)
			die("socket");
		if (to.any.sa_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
		set_port(&from, PORT_MIN + random() % (PORT_MAX - PORT_MIN));
		if (bind(fd, &from.any, length) || connect(fd, &to.any, length)) {
			if (errno != EADDRINUSE && errno != EADDRNOTAVAIL)
				die("connect");
			close(fd);
			continue;
		}
		put(fd, message, bytes);
		get(fd, message, bytes);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		close(fd);
		done++;
	}
	printf("%.1f\n", count / (now() - start));
	return 0;
}
